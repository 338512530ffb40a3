"""Which functions run, from Python 3.12 on; before, rewritten code tells (`rewriting`)."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cutset_agent.sites.runtime import Hook

CO_OPTIMIZED = 1  # of functions alone, as in `inspect`


def watch_functions(hook: Hook, record_function: Callable[[Hook, int, int], None]) -> None:
    """Each function is told once, and costs nothing any more."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    tool = next((tool for tool in (4, 3, 5) if monitoring.get_tool(tool) is None), None)
    if tool is None:
        hook.report(f"process {os.getpid()} does not tell which functions ran: others monitor it")
        return

    def started(code: Any, _offset: int) -> Any:
        name = code.co_name
        if hook.analysed[code.co_filename] and name != "__annotate__":
            is_function = code.co_flags & CO_OPTIMIZED and (name == "<lambda>" or not name.startswith("<"))
            if is_function or name == "<module>":
                number = hook.analysed.number(code.co_filename)
                record_function(hook, number, code.co_firstlineno if is_function else 0)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "cutset")
    monitoring.register_callback(tool, monitoring.events.PY_START, started)
    monitoring.set_events(tool, monitoring.events.PY_START)

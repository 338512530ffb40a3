"""OpenTelemetry's SDK: where a server has no entry of ours, the first span of a trace says when its request is over."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import request as requests
from cutset_agent.calls import MakeFault
from cutset_agent.reports import count_error

MODULE = "opentelemetry.sdk.trace"
TESTED = "opentelemetry-sdk 1.45"
FAULTS: Mapping[str, MakeFault] = {}


def install(module: Any) -> None:
    _tell(module.Span, "start", requests.root_began)
    _tell(module.Span, "end", requests.root_ended)


def _tell(span: Any, name: str, told: Callable[[int], None]) -> None:
    original = getattr(span, name)
    if hasattr(original, "_cutset_hook"):
        return

    @functools.wraps(original)
    def telling(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        try:
            context, parent = self.context, self.parent
            if (parent is None or parent.is_remote) and "cutset" in (context.trace_state or ()):
                told(context.trace_id)
        except Exception as error:  # noqa: BLE001 -- the host's span matters more
            count_error("span of OpenTelemetry", error)

    telling._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    setattr(span, name, telling)

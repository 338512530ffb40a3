"""The environment in which any Python command runs with the agent inside, without a change to its code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files


def agent_environment(
    environ: Mapping[str, str],
    *,
    service: str = "",
    environment: str = "",
    collector: str = "",
    record: str = "",
    uncontained: bool = False,
) -> dict[str, str]:
    """`environ`, with what the agent reads. What is empty stays as it is.

    It must have the public key in `CUTSET_PUBLIC_KEY`, or the shared one in `CUTSET_KEY`.

    `uncontained` agrees to faults that may reach other requests than the one that has them in its plan.
    """
    given = {
        "CUTSET_SERVICE": service,
        "CUTSET_ENVIRONMENT": environment,
        "CUTSET_COLLECTOR": collector,
        "CUTSET_RECORD": record,
        "CUTSET_UNCONTAINED": "1" if uncontained else "",
    }
    hook = str(files("cutset_agent").joinpath("agent_hook"))
    path = os.pathsep.join(filter(None, [hook, environ.get("PYTHONPATH", "")]))
    return {
        **environ,
        **{name: value for name, value in given.items() if value},
        "CUTSET_AGENT": "1",
        "PYTHONPATH": path,
    }

"""uvicorn: whatever application it serves, of whatever framework and interface, gets an entry."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from cutset_agent.calls import MakeFault
from cutset_agent.hooks.entries.asgi import entered

MODULE = "uvicorn.config"
TESTED = "uvicorn 0.54"
FAULTS: Mapping[str, MakeFault] = {}


def install(module: Any) -> None:
    original = module.Config.load
    if hasattr(original, "_cutset_hook"):
        return

    @functools.wraps(original)
    def load(self: Any) -> None:
        original(self)
        self.loaded_app = entered(self.loaded_app)  # by now ASGI 3, also if the application is WSGI

    load._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    module.Config.load = load

"""Calls back when a library is imported, so that a hook touches what the host uses and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_waiting: dict[str, list[Callable[[ModuleType], None]]] = {}


def after_import(name: str, callback: Callable[[ModuleType], None]) -> None:
    """Calls back with the module: now if it is imported, else as soon as it is."""
    module = sys.modules.get(name)
    specification = getattr(module, "__spec__", None)
    if module is not None and not getattr(specification, "_initializing", False):
        callback(module)
        return
    _waiting.setdefault(name, []).append(callback)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextmanager
def waiting_for_a_while() -> Iterator[None]:
    """Whoever begins to wait within it waits no longer afterwards."""
    before = {name: list(callbacks) for name, callbacks in _waiting.items()}
    try:
        yield
    finally:
        _waiting.clear()
        _waiting.update(before)
        if not before:
            sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]


class _Finder(MetaPathFinder):
    """First in line, and silent on every module that nobody waits for: a look into a dictionary each."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        callbacks = _waiting.pop(fullname, None)
        if callbacks is None:
            return None
        specification = _found_by_others(fullname, path, target)
        if specification is None or specification.loader is None:
            _waiting[fullname] = callbacks  # not installed yet
            return None
        specification.loader = _Notifier(specification.loader, callbacks)
        return specification


def _found_by_others(fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if not isinstance(finder, _Finder):
            specification = finder.find_spec(fullname, path, target)
            if specification is not None:
                return specification
    return None


class _Notifier(Loader):
    """Loads as the library's own loader does, gives it back its place, and calls back."""

    def __init__(self, loader: Loader, callbacks: list[Callable[[ModuleType], None]]) -> None:
        self.loader = loader
        self.callbacks = callbacks

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)  # `runpy` and `importlib.resources` ask loaders for more than loading

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        specification = module.__spec__
        if specification is not None:
            specification.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        for callback in self.callbacks:
            callback(module)

"""The library of faults: all that our hooks and those of third parties can cause. `cutset faults` lists it."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from cutset_agent.calls import SharedFault
from cutset_agent.catalogue import catalogue
from cutset_agent.hooks import HOOKS, third_parties


class LibraryFault(NamedTuple):
    """A fault of the library: what `fault_catalogue.json` says of it, and where it can be caused."""

    name: str
    what: str
    incident: str  # the kind of real incident that it stands for
    resilient: str  # what a resilient caller does
    needs_timeout: bool  # it makes sense only where the call site has a timeout
    frameworks: tuple[str, ...]
    contained: bool  # it reaches the request that has it in its plan, and no other
    reaches: dict[str, str]  # if it is not: whom else, by framework


def fault_library() -> dict[str, LibraryFault]:
    """All faults by name, of our hooks and of third parties'; no hooked library needs to be installed."""
    known = {name: dict(entry) for name, entry in catalogue().items()}
    places: dict[str, list[str]] = {name: [] for name in known}
    reaches: dict[str, dict[str, str]] = {}
    found = [(framework, import_module(HOOKS[framework])) for framework in sorted(HOOKS)]
    for framework, hook in [*found, *((framework, load()) for framework, load in third_parties())]:
        known.update(getattr(hook, "CATALOGUE", {}))
        for name, make in hook.FAULTS.items():
            places.setdefault(name, []).append(framework)
            if isinstance(make, SharedFault):
                reaches.setdefault(name, {})[framework] = make.why
    places["delay"] = sorted({framework for frameworks in places.values() for framework in frameworks})
    unknown = {"what": "", "incident": "", "resilient": "", "needs_timeout": False}
    return {
        name: LibraryFault(
            name=name,
            **{**unknown, **known.get(name, {})},
            frameworks=tuple(places[name]),
            contained=name not in reaches,
            reaches=reaches.get(name, {}),
        )
        for name in sorted(places)
    }

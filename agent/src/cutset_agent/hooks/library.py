"""The library of faults: all that our hooks and those of third parties can cause. `cutset faults` lists it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from cutset_agent.calls import MakeFault, SharedFault
from cutset_agent.catalogue import catalogue
from cutset_agent.hooks import HOOKS, third_parties

# Frameworks that have no hook of their own: whose they share.
_HOOKED_BY = {"requests": "urllib3", "psycopg_pool": "psycopg"}


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


@lru_cache(maxsize=1000)
def faults_at(endpoint: str) -> Mapping[str, MakeFault]:
    """Those of its framework, third parties' included, that make sense at an endpoint; none without a hook."""
    found: dict[str, MakeFault] = {}
    for hook in _hooks_of(endpoint):
        choose = getattr(hook, "faults_at", None)
        found.update(choose(endpoint.split("/", 2)[2]) if choose else hook.FAULTS)
    return found


def answers_at(endpoint: str) -> str:
    """The kinds of the wire by which a call there can be answered with any status: `A`, `G`."""
    return "".join(getattr(hook, "ANSWERS", "") for hook in _hooks_of(endpoint))


def _hooks_of(endpoint: str) -> Iterator[ModuleType]:
    framework = endpoint.split("/")[1]
    own = HOOKS.get(_HOOKED_BY.get(framework, framework))
    if own is not None:
        yield import_module(own)
    yield from (load() for name, load in third_parties() if name == framework)

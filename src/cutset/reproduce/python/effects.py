"""What to make happen at each site, best first, and why (ANDURIL §4.1; what is no exception is beyond the paper).

First the exceptions that the call can raise, those in front that lead to the handler behind a message of the failure
log. Then, only where something outside the process is waited for: nothing happens for ever, a wrong value comes back,
it takes long, the process dies there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import stdlib_module_names

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, Site, SiteKind
from cutset.reproduce.front_end import EffectsOf, SiteEffect
from cutset.reproduce.python.escapes import handlers_around
from cutset.reproduce.python.exception_tree import ExceptionClass, exception_tree
from cutset.reproduce.python.exceptions import LikelyException, candidates, construct
from cutset.reproduce.python.logged_exceptions import exceptions_in
from cutset.reproduce.python.syntax import PythonProgram

MOST_EXCEPTIONS = 4  # per site: what comes later is guesswork
# In steps, that is, as late as if so many better faults of the site had failed before.
_ASTRAY = 1  # an exception that does not lead to a message of the failure log, as far as is known
_GUESSED = 2  # one that the call is not known to raise
_REASONED = 1  # what a `raise` statement raises: the reason for which it does is somewhere else
_INSIDE = 2  # one at a call that leads into the analysed code, as far as is known: that has sites of its own
_NO_EXCEPTION = 2  # all else that can happen there, after the exceptions
_READS = re.compile(r"(^|\.|_)(read\w*|recv\w*|get\w*|fetch\w*|receive\w*|load\w*|dequeue\w*|pop\w*)$")
_WRITES = re.compile(r"(^|\.|_)(write|send|sendto)$")


def effects_of(
    program: PythonProgram,
    search_path: Sequence[str],
    failure: Sequence[LogRecord],
    kinds: Collection[FaultKind],
    delay_s: float,
) -> EffectsOf:
    handlers = handlers_around(program)
    in_log = exceptions_in(failure)
    imports = {
        name: tuple(sorted({dotted for names in module.imports.values() for dotted in names}))
        for name, module in program.modules.items()
    }
    trees = _libraries(program, imports, search_path)

    def of(number: int, wanted: Sequence[str]) -> list[SiteEffect]:
        site = program.sites[number]
        event = program.site_events[number]
        resolved = program.resolved[event]
        library = [kind for package in _packages(imports[site.module]) for kind in trees.get(package, ())]
        if site.kind is SiteKind.RAISE:
            text = construct(resolved or site.expression, "injected", library)
            return [SiteEffect(text, "the statement raises it", _REASONED)] * (FaultKind.EXCEPTION in kinds)
        found = candidates(
            site.expression,
            resolved,
            handlers[number],
            in_log,
            library,
            awaited=site.kind is SiteKind.AWAIT or program.events[event].awaited,
            imports=imports[site.module],
            wanted=wanted,
        )
        inside = _INSIDE if program.callees[event] else 0
        effects = list(_exceptions(found, inside)) if FaultKind.EXCEPTION in kinds else []
        if any(candidate.founded for candidate in found):
            start = effects[-1].cost + _NO_EXCEPTION if effects else inside
            others = [effect for effect in _others(site, delay_s) if effect[0] in kinds]
            effects += [SiteEffect(text, why, start + place) for place, (_, text, why) in enumerate(others)]
        return effects

    return of


def _exceptions(found: Sequence[LikelyException], start: int) -> Iterator[SiteEffect]:
    for place, candidate in enumerate(found[:MOST_EXCEPTIONS]):
        doubts = _ASTRAY * (not candidate.leads_on) + _GUESSED * (not candidate.founded)
        yield SiteEffect(candidate.effect, candidate.reason, start + place + doubts)


def _others(site: Site, delay_s: float) -> Iterator[tuple[FaultKind, str, str]]:
    yield FaultKind.HANG, "hang()", "what it waits for never comes"
    if _READS.search(site.expression):
        yield FaultKind.RETURN, "return(None)", "it finds nothing"
        yield FaultKind.RETURN, "return(b'')", "it reads less than it should: the other side has closed"
    elif _WRITES.search(site.expression):
        yield FaultKind.RETURN, "return(0)", "it writes less than it should"
    yield FaultKind.DELAY, f"delay({delay_s:g})", "it takes long"
    yield FaultKind.CRASH, "crash()", "the process dies here"


def _libraries(
    program: PythonProgram, imports: Mapping[str, Sequence[str]], search_path: Sequence[str]
) -> dict[str, list[ExceptionClass]]:
    """The exceptions of the packages that the analysed code imports and that are not analysed themselves.

    Those of the standard library are in a table: most of its classes are for particular calls.
    """
    analysed = _packages(program.modules)
    trees = {}
    for package in _packages(dotted for names in imports.values() for dotted in names) - analysed - stdlib_module_names:
        for folder in search_path:
            source = Path(folder) / package
            if (source / "__init__.py").exists():
                trees[package] = exception_tree(source)
                break
    return trees


def _packages(dotted: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in dotted}

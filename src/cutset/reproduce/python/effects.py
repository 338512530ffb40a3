"""What to make happen at each site, best first, and why (ANDURIL §4.1; what is no exception is beyond the paper).

First the exceptions that the call can raise, those in front that lead to the handler behind a message of the failure
log; among them, the wrong values that the code tests for. Then, only where something outside the process is waited
for: nothing happens for ever, a wrong value comes back, it takes long, the process dies there. A `raise` is last where
the value of another site decides about it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, SiteKind
from cutset.reproduce.front_end import EffectsOf, SiteEffect
from cutset.reproduce.python.deciding_values import deciding_values, wrong_values
from cutset.reproduce.python.escapes import handlers_around
from cutset.reproduce.python.exception_making import Library, make
from cutset.reproduce.python.exceptions import LikelyException, candidates
from cutset.reproduce.python.libraries import imported_modules
from cutset.reproduce.python.logged_exceptions import all_exceptions_in
from cutset.reproduce.python.raised_words import raised_words
from cutset.reproduce.python.syntax import PythonProgram

MOST_EXCEPTIONS = 4  # per site: what comes later is guesswork
# In steps, that is, as late as if so many better faults of the site had failed before.
_ASTRAY = 1  # an exception that does not lead to a message of the failure log, as far as is known
_GUESSED = 2  # one that the call is not known to raise
_ELSEWHERE = 1  # one that a stack trace of the failure log shows arising at another site
_REASONED = 2  # what a `raise` statement raises: the reason for which it does is somewhere else
_STANDS_FOR = 1  # likewise, where that is outside, and can be had in no other way
_CONSEQUENCE = 4  # likewise, where a wrong value of a call brings it about
_TESTED = 2  # a wrong value that the code has a condition for
_INSIDE = 2  # one at a call that leads into the analysed code, as far as is known: that has sites of its own
_PERHAPS_INSIDE = 1  # likewise, but only the name tells so
_NO_EXCEPTION = 2  # all else that can happen there, after the exceptions


def effects_of(
    program: PythonProgram,
    library: Library,
    failure: Sequence[LogRecord],
    kinds: Collection[FaultKind],
    delay_s: float,
    *,
    ended_at: Collection[int] = (),
    arising: Mapping[int, Collection[str]] | None = None,
) -> EffectsOf:
    """`ended_at` are events: `raise` statements at which tracebacks of the failure log end; `arising` are, by site, the
    effects that tracebacks show arising there."""
    handlers = handlers_around(program)
    in_log = all_exceptions_in(failure, library)
    imports = imported_modules(program)
    near = {module: _packages(names) for module, names in imports.items()}
    leads = _leading(program, near)
    deciding = deciding_values(program)
    decides = {event for index in ended_at for event in deciding.brought_about.get(index, ())}

    shown = {effect for effects in (arising or {}).values() for effect in effects}

    def of(number: int, wanted: Sequence[str]) -> list[SiteEffect]:
        site = program.sites[number]
        event = program.site_events[number]
        resolved = program.resolved[event]
        if site.kind is SiteKind.RAISE:
            return [_raising(resolved or site.expression, event, raised_words(site))] * (FaultKind.EXCEPTION in kinds)
        sure = [one for one in program.callees[event] if one not in program.guesses[event]]
        found = candidates(
            site.expression,
            resolved,
            handlers[number],
            in_log,
            library,
            packages=set().union(*(leads[one] for one in sure)) if sure else near[site.module] | _packages([resolved]),
            inside=bool(sure),
            awaited=site.kind is SiteKind.AWAIT or program.events[event].awaited,
            imports=imports[site.module],
            wanted=wanted,
        )
        inside = _INSIDE if sure else _PERHAPS_INSIDE if program.callees[event] else 0
        elsewhere = shown.difference((arising or {}).get(number, ()))
        effects = list(_exceptions(found, inside, elsewhere)) if FaultKind.EXCEPTION in kinds else []
        reaches_out = any(candidate.founded for candidate in found)
        values = wrong_values(program, event, deciding.conditions.get(event, ()))
        noticed = [value for value in values if value.tested or event in decides]
        effects += [
            SiteEffect(value.text, f"{value.why}; the code tests for it", inside + _TESTED * (event not in decides))
            for value in noticed
            if FaultKind.RETURN in kinds
        ]
        if reaches_out:
            late = [(FaultKind.RETURN, value.text, value.why) for value in values if value not in noticed]
            others = [effect for effect in _others(late, delay_s) if effect[0] in kinds]
            start = max((effect.cost for effect in effects), default=inside - _NO_EXCEPTION) + _NO_EXCEPTION
            effects += [SiteEffect(text, why, start + place) for place, (_, text, why) in enumerate(others)]
        return sorted(effects, key=lambda effect: effect.cost)

    def _raising(name: str, event: int, words: str) -> SiteEffect:
        last = f".{name}".rpartition(".")[2]
        if words and any(words in record.message for record in failure):
            # Whatever was the reason, this is what the log has of it.
            return SiteEffect(
                make(name, words, library), "the statement raises it, and the failure log has its words", 0
            )
        message = next((text for kind, text in in_log if f".{kind}".rpartition(".")[2] == last), words or "injected")
        why, cost = "the statement raises it", _REASONED
        if reasons := deciding.reasons.get(event):
            why = f"the statement raises it, by what `{program.events[reasons[0]].expression}` returns"
            cost = _CONSEQUENCE if deciding.brought_about[event] else _STANDS_FOR
        return SiteEffect(make(name, message, library), why, cost)

    return of


def _exceptions(found: Sequence[LikelyException], start: int, elsewhere: Collection[str]) -> Iterator[SiteEffect]:
    for place, candidate in enumerate(found[:MOST_EXCEPTIONS]):
        doubts = _ASTRAY * (not candidate.leads_on) + _GUESSED * (not candidate.founded)
        doubts += _ELSEWHERE * (candidate.effect in elsewhere)
        yield SiteEffect(candidate.effect, candidate.reason, start + place + doubts)


def _others(values: Iterable[tuple[FaultKind, str, str]], delay_s: float) -> Iterator[tuple[FaultKind, str, str]]:
    yield FaultKind.HANG, "hang()", "what it waits for never comes"
    yield from values
    yield FaultKind.DELAY, f"delay({delay_s:g})", "it takes long"
    yield FaultKind.CRASH, "crash()", "the process dies here"


def _leading(program: PythonProgram, near: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Per function: the packages outside that it leads into, through analysed code too."""
    leads: list[set[str]] = [set() for _ in program.functions]
    callers: dict[int, set[int]] = defaultdict(set)
    for index, event in enumerate(program.events):
        if program.leaves[index]:
            resolved = program.resolved[index]
            leads[event.function] |= (
                _packages([resolved]) if resolved else near[program.functions[event.function].module]
            )
        for callee in (*program.callees[index], *program.joins[index]):
            callers[callee].add(event.function)
    waiting = dict.fromkeys(range(len(leads)))
    while waiting:
        function = next(iter(waiting))
        del waiting[function]
        for caller in callers[function]:
            if not leads[function] <= leads[caller]:
                leads[caller] |= leads[function]
                waiting[caller] = None
    return [frozenset(packages) for packages in leads]


def _packages(dotted: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in dotted}

"""What to make happen at each site, best first, and why (ANDURIL §4.1; what is no exception is beyond the paper).

At a call, first the exceptions. Then, where something outside of the thread is waited for: it never comes, a wrong
value comes back, it takes long, the process dies there. If the failure log says that something timed out, that is so
wherever code of others is plugged in, too. A `throw` statement throws what it throws.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.front_end import EffectsOf, SiteEffect
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.likely_exceptions import FailureWords, OutsideCall, failure_words, likely_exceptions
from cutset.reproduce.jvm.table_rows import SiteRow
from cutset.reproduce.jvm.tables import JvmProgram
from cutset.reproduce.jvm.usual_failures import reaches_out, wrong_value

# In steps, that is, as late as if so many better faults of the site had failed before.
_REASONED = 2  # what a `throw` statement throws: the reason for which it does is somewhere else
_NAMED = 1  # likewise, where the failure log names it
_TESTED = 2  # a wrong value that the code has a condition for
_NO_EXCEPTION = 2  # all else that can happen there, after the exceptions
_OWN = ("java.", "javax.")  # what is abstract there is seldom somebody else's


def effects_of(
    program: JvmProgram,
    types: ExceptionTypes,
    failure: Sequence[LogRecord],
    kinds: Collection[FaultKind],
    delay_s: float,
    *,
    arising: Mapping[int, Collection[str]],
) -> EffectsOf:
    """`arising` are, by site, the effects that stack traces of the failure log show arising there."""
    words = failure_words(failure, arising.values())

    def of(number: int, wanted: Sequence[str]) -> list[SiteEffect]:
        row, here = program.site_rows[number], arising.get(number, ())
        if row.is_raise:
            thrown = _thrown(program.type_name(row.callee_owner), here, words, types)
            return [thrown] * (FaultKind.EXCEPTION in kinds)
        declared = tuple(map(program.type_name, row.declared))
        call = OutsideCall(program.type_name(row.callee_owner), program.strings[row.callee_name], declared)
        effects = likely_exceptions(call, wanted, here, words, types) if FaultKind.EXCEPTION in kinds else []
        waited_for = reaches_out(call.owner, call.name, call.declared)
        if waited_for or (words.late and types.is_abstract(call.owner) and not call.owner.startswith(_OWN)):
            last = max((effect.cost for effect in effects), default=-1 if words.late else 0)
            effects += _others(program, row, call, kinds, delay_s, start=last + _NO_EXCEPTION)
        return sorted(effects, key=lambda effect: effect.cost)

    return of


def _thrown(kind: str, here: Collection[str], words: FailureWords, types: ExceptionTypes) -> SiteEffect:
    for effect in here:
        return SiteEffect(effect, "the statement throws it, and a stack trace of the failure log begins there", 0)
    for each, message in words.named:
        if each == kind and types.make(kind, message) not in words.shown:
            return SiteEffect(
                types.make(kind, message), "the statement throws it, and the failure log names it", _NAMED
            )
    return SiteEffect(types.make(kind, "injected"), "the statement throws it", _REASONED)


def _others(
    program: JvmProgram, row: SiteRow, call: OutsideCall, kinds: Collection[FaultKind], delay_s: float, *, start: int
) -> Iterator[SiteEffect]:
    value = wrong_value(call.owner, call.name, program.strings[row.callee_descriptor].rpartition(")")[2])
    use = _use(program, row) if value and FaultKind.RETURN in kinds else ""
    if value and use == "tested":
        yield SiteEffect(value[0], f"{value[1]}; the code tests for it", _TESTED)
    late = [
        (FaultKind.HANG, "hang()", "what it waits for never comes"),
        *([(FaultKind.RETURN, *value)] if value and use == "used" else []),
        (FaultKind.DELAY, f"delay({delay_s:g})", "it takes long"),
        (FaultKind.CRASH, "crash()", "the process dies here"),
    ]
    asked = [(text, why) for kind, text, why in late if kind in kinds]
    yield from (SiteEffect(text, why, start + place) for place, (text, why) in enumerate(asked))


def _use(program: JvmProgram, row: SiteRow) -> str:
    """What is done with the value of a call: it is tested, used, or dropped ("")."""
    method = program.method(row.method)
    places = set(row.instructions)
    if any(not places.isdisjoint(condition.calls) for condition in method.conditions):
        return "tested"
    return "" if all(call.flags & 1 for call in method.calls if call.instruction in places) else "used"

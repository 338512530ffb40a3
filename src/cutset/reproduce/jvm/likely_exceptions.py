"""The exceptions to try at a call, best first.

What stack traces show there; what the callee declares, as the failure log names it, then as it usually is; what nobody
declares, where the log names it and the call can throw it. In front is what leads to the handler behind a message.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.front_end import SiteEffect
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.logged_exceptions import exceptions_in
from cutset.reproduce.jvm.usual_failures import (
    OF_THE_MACHINE,
    UNLIKELY,
    is_of_another_kind,
    throws_unchecked,
    usual_failures,
    usual_words,
)
from cutset.reproduce.logs.levels import HARMLESS, usual_level

# That something did, and not the name of a setting.
_LATE = re.compile(r"(?i)\btim(?:ed|es)[ -]out\b|TimeoutException|(?<![.\w])time-?out\b(?![\w.]*\s*[=:])")
MOST_EXCEPTIONS = 4  # per site: what comes later is guesswork
# In steps, that is, as late as if so many better faults of the site had failed before.
_ASTRAY = 1  # an exception that does not lead to a message of the failure log, as far as is known
_GUESSED = 2  # one that nobody declares, and no stack trace shows there
_ELSEWHERE = 1  # one that a stack trace of the failure log shows arising at another site
_UNLIKELY = 2  # one that depends on nothing that changes between runs, as most of those that nobody has to declare
_OTHER_WORDS = 10  # one that does not say what, for all that the failure log tells, some exception has said
_FOREIGN = 2  # one of other code, where Java's own is called


@dataclass(frozen=True, slots=True)
class OutsideCall:
    owner: str
    name: str
    declared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureWords:
    """What a failure log says of exceptions."""

    named: tuple[tuple[str, str], ...]  # types with their messages
    text: str  # all that was logged
    shown: frozenset[str]  # effects that its stack traces show arising somewhere
    late: bool = False  # something is said to have timed out
    unplaced: tuple[str, ...] = ()  # words of the machine in its messages, of which no stack trace shows the place


def failure_words(failure: Sequence[LogRecord], arising: Iterable[Collection[str]]) -> FailureWords:
    shown = frozenset(effect for effects in arising for effect in effects)
    warnings = (record for record in failure if usual_level(record.level) not in HARMLESS)
    late = any(_LATE.search(f"{record.message} {record.raised}") for record in warnings)
    text = "\n".join(record.message for record in failure)
    traces = "\n".join(line for record in failure for line in record.traceback)
    unplaced = tuple(words for words in OF_THE_MACHINE if words in text and words not in traces)
    return FailureWords(tuple(exceptions_in(failure)), text, shown, late, unplaced)


def likely_exceptions(
    call: OutsideCall, wanted: Sequence[str], here: Collection[str], words: FailureWords, types: ExceptionTypes
) -> list[SiteEffect]:
    """`wanted` are the types that lead on, none if all do; `here` are effects that stack traces show at this call."""
    found = {effect: SiteEffect(effect, "a stack trace of the failure log shows it here", 0) for effect in here}
    named = {kind for kind, _ in words.named}
    for kind, message, reason, guessed in _candidates(call, wanted, words, types):
        effect = types.make(kind, message)
        doubts = (
            _GUESSED * guessed
            + _ASTRAY * bool(wanted and not types.is_any(kind, wanted))
            + _ELSEWHERE * (effect in words.shown)
            + _OTHER_WORDS * (bool(words.unplaced) and message not in words.unplaced and effect not in words.shown)
            + _UNLIKELY * (kind not in named and (kind in UNLIKELY or types.is_unchecked(kind)))
            + _FOREIGN * (_is_of_java(call.owner) and not _is_of_java(kind) and not types.is_abstract(call.owner))
        )
        if types.can_be_made(kind) and not is_of_another_kind(kind, call.owner, call.name):
            found.setdefault(effect, SiteEffect(effect, reason, doubts))
    best = sorted(found.values(), key=lambda effect: effect.cost)[:MOST_EXCEPTIONS]
    return [SiteEffect(each.text, each.why, each.cost + place) for place, each in enumerate(best)]


def _is_of_java(name: str) -> bool:
    return name.startswith(("java.", "javax."))


def _candidates(
    call: OutsideCall, wanted: Sequence[str], words: FailureWords, types: ExceptionTypes
) -> Iterator[tuple[str, str, str, bool]]:
    """Type, message, reason, and whether it is a guess."""
    for kind, message in words.named:
        if types.is_any(kind, call.declared):
            yield kind, message, "declared there, and the failure log names it", False
        elif types.is_unchecked(kind) and throws_unchecked(kind, call.owner, call.name):
            yield kind, message, "the failure log names it, and nobody has to declare it", True
    usual = [each for each in usual_failures(call.owner, call.name) if types.is_any(each[0], call.declared)]
    for kind, message in usual:
        if message and message in words.text:
            yield kind, message, "usual there, and the failure log has its words", False
    for kind in call.declared:
        yield kind, usual_words(kind, call.owner, call.name), "declared there", False
    for kind in wanted:
        if types.is_any(kind, call.declared):
            yield kind, usual_words(kind, call.owner, call.name), "a handler is for it, of what is declared", False
    for kind, message in usual:
        yield kind, message, "usual there", False

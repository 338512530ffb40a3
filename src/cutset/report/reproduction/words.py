"""A reproduced failure in sentences, alike in every report; and none that says more than is known.

What a grade allows to be said: of a log that is reproduced, again and again, that this caused it, as far as the log
tells; of its messages, that it is this, but perhaps at another moment; of a symptom, that this is a cause, and what
speaks against its being the one of that night.
"""

import shlex
import tokenize
from collections.abc import Sequence

from cutset.model.reproduction.result import (
    CaseSummary,
    CausalStep,
    Grade,
    Language,
    LogAgreement,
    Reproduction,
    ReproductionResult,
)
from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.model.wording import count

AROUND = 3  # lines of source, before the place of a fault and after it
MARKED = 5  # lines of that place itself: a call may have a hundred, and its first ones tell which it is
MOST_DIFFERENCES = 10  # lines of each kind
# What to do with what is in the folder of the replay: see the failure again; a test that fails until it is fixed.
_NEXT = {
    Language.PYTHON: ("python {}/replay.py", "pytest {}/test_reproduction.py"),
    Language.JVM: ("sh {}/replay.sh", "cp {}/ReproductionTest.java src/test/java"),
}
LESS_ALIKE = "Other causes with the same symptom, whose logs are less alike"
SIGNS = {Grade.LOG: "✓", Grade.MESSAGES: "≃", Grade.SYMPTOM: "≈", Grade.NOTHING: "?"}
_EXPLAINED = {Grade.LOG: "log", Grade.MESSAGES: "messages"}
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


# -- what is known -----------------------------------------------------------------------------------------------------


def grade_in_words(grade: Grade) -> str:
    return str(grade).capitalize()


def repeats(found: Reproduction) -> str:
    """`5 of 5 repeats show it`."""
    if not found.repeats:
        return "it was not tried again"
    few = "only " if 0 < 2 * found.repeated < found.repeats else ""
    show = "shows" if found.repeated == 1 else "show"
    return f"{few}{found.repeated} of {count(found.repeats, 'repeat')} {show} it"


def effort(result: ReproductionResult) -> str:
    early = f"; ended early: {result.stopped}" if result.stopped else ""
    return f"{count(result.rounds, 'round')}, {result.seconds:,.0f} s{early}"


def conclusion(result: ReproductionResult) -> str:
    """What may be concluded, and no more."""
    best = result.best
    if best is None:
        return "no fault was found that shows the symptom"
    if best.grade is Grade.NOTHING:
        return "a fault showed the symptom once, but no repeat does: for all that is known, a coincidence"
    return difference(best) + _consequence(result, best)


def _consequence(result: ReproductionResult, best: Reproduction) -> str:
    """What follows from how its log differs."""
    if best.grade is Grade.SYMPTOM:
        return ", so this is a cause, perhaps not the cause"
    if not best.repeats:
        return "; it was not tried again, so it may be a coincidence"
    if result.equals:
        return "; but others explain it as well"
    if best.grade is Grade.MESSAGES:
        return ": as far as messages tell, this is what failed, perhaps at another moment"
    return ": as far as the log tells, this is what caused it"


def difference(found: Reproduction) -> str:
    """Between the two logs: what decides which of several is the best."""
    values = found.agreement.values
    has, is_ = ("has", "is") if values == 1 else ("have", "are")
    other = f"{count(values, 'message')} {has} other values or {is_} elsewhere"
    if found.unlike:
        both = f"its log differs from the failure log in {count(found.unlike, 'message')}"
        return f"{both}, and values of {values}" if values else both
    if values:
        return f"its log has the messages of the failure log, but {other}"
    return "nothing of the failure log is lacking, and nothing contradicts it"


def differing_lines(agreement: LogAgreement) -> list[tuple[str, str, str]]:
    """A sign, whose line it is, and the line."""
    kinds = (
        ("–", "lacks", agreement.lacking),
        ("+", "adds", agreement.added),
        ("≠", "differs at", agreement.otherwise),
    )
    return [
        (sign, f"{verb} line {each.line:,}", each.text)
        for sign, verb, lines in kinds
        for each in lines[:MOST_DIFFERENCES]
    ]


def differing_lines_left_out(found: Reproduction) -> int:
    return max(0, sum(found.standing) - len(differing_lines(found.agreement)))


def any_of(result: ReproductionResult) -> str:
    """Above the best and those that are as good; "" if there are none."""
    if not result.equals:
        return ""
    number = len(result.equals) + 1
    of = "Either of these two" if number == 2 else f"Any of these {_NUMBERS[number] if number <= 10 else number}"
    return f"{of} explains the {_EXPLAINED.get(result.grade, 'symptom')} as well"


def equally_good(result: ReproductionResult) -> list[Reproduction]:
    """The best and those that explain as much."""
    return [result.best, *result.equals] if result.best and result.equals else []


def less_alike(result: ReproductionResult) -> list[tuple[str, list[Reproduction]]]:
    """All others, those of one root cause together; the most alike first."""
    groups: dict[str, list[Reproduction]] = {}
    for each in sorted(result.alternatives, key=lambda each: each.standing):
        if each not in result.equals:
            groups.setdefault(each.group, []).append(each)
    return list(groups.items())


def evidence(found: Reproduction, result: ReproductionResult) -> list[str]:
    """Why it is believed, a sentence each."""
    shown = sum(message.shown for message in found.messages)
    return [
        f"the oracle `{result.case.oracle}` holds: {found.reason}",
        repeats(found),
        f"{shown} of {len(found.messages)} messages that set the failure log apart from good runs show again",
        difference(found),
        f"found in round {found.round} of {result.rounds}",
    ]


def advice(case: CaseSummary) -> list[str]:
    """What may help where nothing was found."""
    return [
        "more rounds: `--rounds`; with `--resume`, the search goes on where it ended",
        f"other code: `--source` named {', '.join(case.sources)}; the fault may be in a package that these call",
        "another log of the same failure, with more of what came before it, or at a more detailed level",
        "an oracle that asks for less: is the symptom bound to something that only production has?",
    ]


def simplification(result: ReproductionResult) -> list[str]:
    """What was found before it was made simpler, if it was; and what that showed."""
    first, best = result.first_found, result.best
    if first is None or best is None or first.faults == best.faults:
        return list(result.remarks)
    return [*(f"found first, in round {first.round}: {fault}" for fault in first.faults), *result.remarks]


# -- faults and causal chains ------------------------------------------------------------------------------------------


def what_happened(fault: FiredFault) -> str:
    """The fault as a sentence, without its place."""
    what = f"`{fault.site.expression}`"
    word, _, argument = fault.effect.removesuffix(")").partition("(")
    others = {
        "hang": f"{what} never comes back",
        "delay": f"{what} takes {argument} s longer",
        "crash": f"the process dies at {what}",
        "return": f"{what} returns `{argument}`, whatever it should",
    }
    if word in others:
        return others[word]
    if fault.site.kind is SiteKind.RAISE:
        return f"`raise {fault.site.expression}` is reached: `{fault.effect}`"
    return f"{'awaiting ' if fault.site.kind is SiteKind.AWAIT else ''}{what} raises `{fault.effect}`"


def in_one_line(found: Reproduction) -> str:
    """What, where and which time."""
    return ", and ".join(f"{what_happened(fault)} in {_place(fault.site)}, {_time(fault)}" for fault in found.faults)


def _place(site: Site) -> str:
    return f"`{site.function}` ({site.module}:{site.line})"


def circumstances(fault: FiredFault) -> str:
    process = "the workload's own process" if fault.process == 0 else f"child process {fault.process} of the workload"
    return f"{_time(fault)}, in {fault.thread or 'an unnamed thread'} of {process}"


def _time(fault: FiredFault) -> str:
    """`the 3rd time it gets there within `crawl.py:run` (the 7th in all)`: what else goes on shifts only the latter."""
    _, _, callers = fault.within.partition(" < ")
    if not fault.nth or (not callers and fault.nth == fault.occurrence):
        return f"the {ordinal(fault.occurrence)} time it gets there"
    in_all = "" if fault.nth == fault.occurrence else f" (the {ordinal(fault.occurrence)} in all)"
    return f"the {ordinal(fault.nth)} time it gets there within `{callers or fault.within}`{in_all}"


def moment(fault: FiredFault, log_lines: int) -> str:
    """`log_lines`: of the failure log."""
    after = f"after {count(fault.log_lines, 'log line')}" if fault.log_lines else "before anything was logged"
    at = fault.failure_line
    where = f"that is about line {at:,} of {log_lines:,}" if at else "the place is not known"
    return f"{after}; in the failure log, {where}"


def inferred(chain: Sequence[CausalStep]) -> list[bool]:
    """Of each step, whether nobody saw it: its function did not run then, or that is not known. The fault did fire."""
    return [number > 0 and step.observed is not True for number, step in enumerate(chain)]


def inferred_in_words(chain: Sequence[CausalStep]) -> str:
    guessed = sum(inferred(chain))
    if not guessed:
        return "every step ran"
    return f"{guessed} of {count(len(chain), 'step')} inferred"


def excerpt(site: Site) -> list[tuple[int, str, bool]]:
    """Lines of source around a site, as they are now: number, text, whether it is the site. Empty if it is gone."""
    try:
        with tokenize.open(site.path) as file:
            lines = file.read().split("\n")
    except (OSError, SyntaxError, ValueError):
        return []
    end = min(site.end_line, site.line + MARKED - 1)
    numbers = range(max(1, site.line - AROUND), min(len(lines), end + AROUND) + 1)
    return [(number, lines[number - 1], site.line <= number <= end) for number in numbers]


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else _ORDINALS.get(number % 10, "th")
    return f"{number:,}{ending}"


def next_commands(result: ReproductionResult, replay: str) -> list[str]:
    """Two; `replay` is the folder of what replays it."""
    return [command.format(shlex.quote(replay)) for command in _NEXT[result.case.language]]

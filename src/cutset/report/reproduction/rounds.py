"""How far a search for the fault behind a failure is: what it read, what it has to explain, what it tried."""

from collections.abc import Sequence

import htpy as h

from cutset.model.reproduction.event import (
    GoodRunFinished,
    OracleAnswer,
    ProgramAnalysed,
    ReproductionEvent,
    RoundFinished,
)
from cutset.model.wording import count
from cutset.report.page.components import note, table, tiles, verdict
from cutset.report.reproduction.causal_graph import plain

MOST_ROUNDS = 200  # the latest
MOST_TEXTS = 20  # messages, problems


def rounds_of(events: Sequence[ReproductionEvent]) -> list[RoundFinished]:
    return [event for event in events if isinstance(event, RoundFinished)]


def analysed_in(events: Sequence[ReproductionEvent]) -> ProgramAnalysed | None:
    """The last time that the search began, or went on."""
    return next((event for event in reversed(events) if isinstance(event, ProgramAnalysed)), None)


def search_body(events: Sequence[ReproductionEvent]) -> h.Node:
    """As far as it is."""
    analysed, rounds = analysed_in(events), rounds_of(events)
    problems = dict.fromkeys(
        problem for event in events if isinstance(event, GoodRunFinished | RoundFinished) for problem in event.problems
    )
    if analysed is None:
        return note("Running the workload without faults, reading the source.")
    return [
        tiles(
            [
                (f"{len(rounds):,}", "rounds"),
                (f"{sum(each.reproduces for each in rounds):,}", "of them show the symptom"),
                (f"{len(analysed.messages):,}", "messages to explain"),
                (f"{analysed.related_sites:,}", f"of {analysed.sites:,} places for faults can lead to the failure log"),
            ]
        ),
        h.h3["Messages to explain"],
        h.ul[(h.li[h.code[plain(each)]] for each in analysed.messages[:MOST_TEXTS])],
        len(analysed.messages) > MOST_TEXTS
        and h.p(".muted")[f"and {len(analysed.messages) - MOST_TEXTS:,} more messages"],
        [note(plain(problem), kind="degraded") for problem in list(problems)[:MOST_TEXTS]],
        rounds_table(rounds, len(analysed.messages)) if rounds else None,
    ]


def _answer(done: RoundFinished) -> h.Node:
    if done.reproduces:
        return verdict(done.grade)
    return verdict("not tried", "no") if done.answer is OracleAnswer.NO else verdict("unknown", undecided(done))


def undecided(done: RoundFinished) -> str:
    """What is neither a reproduction nor a no."""
    return "cannot tell" if done.answer is OracleAnswer.CANNOT_TELL else "the oracle holds without a fault"


def rounds_table(rounds: Sequence[RoundFinished], messages: int) -> h.Node:
    """The latest first."""
    rows = (
        (
            h.td(".number")[f"{each.number:,}"],
            each.stage,
            _answer(each),
            h.td(".number")[f"{len(each.missing)} of {count(messages, 'message')}"],
            h.td(".number")[count(each.unlike, "message")],
            h.code[plain(" + ".join(map(str, each.faults)))] if each.faults else "nothing that was armed occurred",
        )
        for each in reversed(rounds[-MOST_ROUNDS:])
    )
    left_out = len(rounds) - MOST_ROUNDS
    return [
        table(
            ("round", "for", "answer", "missing", "logs differ in", "fault"), rows, caption="Rounds, the latest first"
        ),
        left_out > 0 and h.p(".muted")[f"{left_out:,} earlier rounds are not listed"],
    ]

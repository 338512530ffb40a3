from pathlib import Path

import htpy as h
from tests.samples.reproduction import fault

from cutset.model.reproduction.event import (
    GoodRunFinished,
    OracleAnswer,
    ProgramAnalysed,
    ReproductionEvent,
    RoundFinished,
    RoundStage,
)
from cutset.report.reproduction.rounds import MOST_ROUNDS, search_body

HOSTILE = "<script>alert(1)</script>" + "x" * 10_000
ANALYSED = ProgramAnalysed(2, 52, 0.1, 9, 4, 8, (), ("cannot write", HOSTILE), 2, (), 0)


def finished(number: int, answer: OracleAnswer = OracleAnswer.NO) -> RoundFinished:
    return RoundFinished(
        number, RoundStage.SINGLE, fault(), answer, "", ("cannot write",), 0.1, Path("round"), problems=(HOSTILE,)
    )


def shown(*events: ReproductionEvent) -> str:
    return str(h.div[search_body(events)])


def test_before_the_source_is_read_it_says_what_it_does() -> None:
    assert "Running the workload without faults" in shown(GoodRunFinished(1, 2, 0.1, ()))


def test_it_tells_what_has_to_be_explained_and_what_was_tried_the_latest_first() -> None:
    page = shown(ANALYSED, finished(1), finished(2, OracleAnswer.YES))

    assert "of 9 places for faults can lead to the failure log" in page
    assert "cannot write" in page
    assert page.index(">2</td>") < page.index(">1</td>")
    assert "</span> the log is reproduced</span>" in page
    assert page.count("1 of 2 messages") == 2


def test_hostile_messages_are_text_and_many_rounds_are_bounded() -> None:
    page = shown(ANALYSED, *(finished(number) for number in range(1, MOST_ROUNDS + 6)))

    assert "<script>" not in page
    assert "5 earlier rounds are not listed" in page
    assert page.count("x" * 601) == 0

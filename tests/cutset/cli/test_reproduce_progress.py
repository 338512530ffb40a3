import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cutset.cli.reproduce_progress import SearchStanding, follow, lines_of, picture, show_reproduction
from cutset.model.reproduction.event import (
    GoodRunFinished,
    OracleAnswer,
    ProgramAnalysed,
    RankedSite,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.reproduction.result import CaseSummary, ReproductionResult
from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.model.run import Loop, RunStarted

RESULT = ReproductionResult(CaseSummary((), (), "", 0), None, (), None, rounds=1, seconds=1.0, summary="")
SITE = Site("shop", "pay", "bank.call", 0, SiteKind.CALL, "shop.py", 3, 0, 3, 9)
FAULT = FiredFault(SITE, 0, 2, "OSError(104, '[/]')", "", 5, 0, "MainThread", ())


def analysed(
    *messages: str,
    recognised: int = 1,
    resumed: int = 0,
    skipped: tuple[str, ...] = (),
    unvisited: tuple[str, ...] = (),
) -> ProgramAnalysed:
    return ProgramAnalysed(
        files=2,
        lines=1200,
        seconds=0.25,
        sites=30,
        related_sites=4,
        visits=99,
        messages=messages,
        recognised=recognised,
        skipped=skipped,
        unvisited=unvisited,
        resumed=resumed,
    )


def finished(number: int, answer: OracleAnswer, *fired: FiredFault, missing: tuple[str, ...] = ()) -> RoundFinished:
    return RoundFinished(
        number=number,
        stage=RoundStage.SINGLE,
        fired=fired[-1] if fired else None,
        fired_ground=fired[:-1],
        answer=answer,
        reason="the reason",
        missing=missing,
        seconds=1.0,
        ranking=tuple(RankedSite(f"shop::pay::call_{place}", "OSError() at occurrence 1", "") for place in range(9)),
        problems=(),
        folder=Path("round"),
    )


def plain(markup: str) -> str:
    console = Console(width=300, highlight=False)
    with console.capture() as captured:
        console.print(markup)
    return captured.get().rstrip()


def test_a_round_is_one_line_with_what_was_tried_and_what_it_showed() -> None:
    standing = SearchStanding(200, messages=("[red] lost", "gone"))

    lines = [
        *lines_of(finished(7, OracleAnswer.NO, FAULT, missing=("gone",)), standing),
        *lines_of(finished(8, OracleAnswer.NO), standing),
        *lines_of(finished(9, OracleAnswer.CANNOT_TELL, FAULT, FAULT), standing),
    ]

    fault = "OSError(104, '[/]') at shop::pay::bank.call, occurrence 2"
    assert [plain(line) for line in lines] == [
        f"   7 no, 1 of 2 messages missing  one fault: {fault}",
        "   8 no, 0 of 2 messages missing  one fault: nothing that was armed occurred",
        f"   9 cannot tell, 0 of 2 messages missing  one fault: {fault} + {fault}  the reason",
    ]


def test_rounds_from_before_an_interruption_are_counted_but_not_shown_again() -> None:
    standing = SearchStanding(200)

    follow(analysed("lost", resumed=2), standing)

    assert lines_of(finished(2, OracleAnswer.NO), standing) == []
    assert len(lines_of(finished(3, OracleAnswer.NO), standing)) == 1
    assert standing.rounds == 2


def test_the_analysis_says_what_is_to_be_explained_and_warns_of_what_it_lacks() -> None:
    skipped = tuple(f"{name}.py: SyntaxError" for name in "abcde")
    lines = [plain(line) for line in lines_of(analysed("[lost]", recognised=0, skipped=skipped), SearchStanding(200))]

    assert lines[0].startswith("read 1,200 lines of 2 files in 0.2 s: 30 places for faults, 4 of them")
    assert lines[1] == "1 message to explain: “[lost]”"
    assert lines[2].startswith("warning: no log statement or stack trace of the sources accounts for")
    assert lines[3:] == [
        "warning: not read: a.py: SyntaxError",
        "warning: not read: b.py: SyntaxError",
        "warning: and 3 more like these",
    ]


def test_sources_that_the_workload_does_not_get_to_are_told() -> None:
    lines = [
        plain(line) for line in lines_of(analysed("lost", unvisited=("sqlite3", "shop.bank")), SearchStanding(200))
    ]

    assert lines[2:] == ["warning: the workload gets to no place for faults in sqlite3, shop.bank"]


def test_a_problem_that_every_round_has_is_shown_once() -> None:
    standing = SearchStanding(200)
    shown = []
    for event in (
        GoodRunFinished(1, 2, 0.5, ("no log",)),
        GoodRunFinished(2, 2, 0.5, ("no log",)),
        replace(finished(1, OracleAnswer.NO), problems=("no log", "no hook")),
        replace(finished(2, OracleAnswer.NO), problems=("no log", "no hook")),
    ):
        shown += [plain(line) for line in lines_of(event, standing)]
        follow(event, standing)

    assert [line for line in shown if line.startswith("warning")] == ["warning: no log", "warning: no hook"]


def test_the_live_part_has_the_missing_messages_and_the_best_five_sites() -> None:
    standing = SearchStanding(200)
    for event in (analysed("lost", "gone"), finished(1, OracleAnswer.NO, FAULT, missing=("gone",))):
        follow(event, standing)
    console = Console(width=100)

    with console.capture() as captured:
        console.print(picture(standing))

    shown = captured.get()
    assert "1 of at most 200 rounds" in shown
    assert "1 of 2 messages missing in the last round: “gone”" in shown
    assert [f"call_{place}" in shown for place in range(6)] == [True] * 5 + [False]


def test_without_a_terminal_every_event_is_a_whole_line(capsys: pytest.CaptureFixture[str]) -> None:
    standing = SearchStanding(200)

    async def events() -> AsyncIterator[ReproductionEvent]:
        yield RunStarted(loop=Loop.REPRODUCTION, run="20261116")
        yield GoodRunFinished(1, 2, 0.5, ("a problem",))
        yield analysed("m" * 60, "n" * 60, "o" * 60, "p")
        yield finished(1, OracleAnswer.YES, FAULT)
        yield ReproductionFinished(RESULT)

    assert asyncio.run(show_reproduction(events(), standing)) == RESULT

    lines = capsys.readouterr().err.splitlines()
    assert lines[1:3] == ["run 1 of 2 without faults: 0.5 s", "warning: a problem"]
    assert lines[4].endswith(f"“{'o' * 60}”, …")
    assert lines[5].endswith("the reason")
    assert standing.run == "20261116"


def test_while_the_source_is_read_a_log_gets_a_sign_of_life_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = SearchStanding(200)

    async def events() -> AsyncIterator[ReproductionEvent]:
        await asyncio.sleep(0)
        standing.tell("reading the source: 80 of [300] files")
        while "300" not in capsys_so_far():  # noqa: ASYNC110 -- a text tells of no event
            await asyncio.sleep(0)
        yield analysed("lost")
        yield ReproductionFinished(RESULT)

    seen: list[str] = []

    def capsys_so_far() -> str:
        seen.append(capsys.readouterr().err)
        return "".join(seen)

    monkeypatch.setattr("cutset.cli.reproduce_progress.SIGN_OF_LIFE_S", 0.0)
    asyncio.run(show_reproduction(events(), standing))

    assert "reading the source: 80 of [300] files\n" in "".join(seen)

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.toy_language import FAILURE_LOG, RUNTIME, ToyFrontEnd, log_of, toy_case, toy_state

from cutset.errors import UsageError
from cutset.model.reproduction.event import GoodRunFinished, ProgramAnalysed, ReproductionEvent
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.prepare import identity, prepare, read_subject
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.state import ReproductionState


def prepared(state: ReproductionState) -> list[ReproductionEvent]:
    async def consume() -> list[ReproductionEvent]:
        return [event async for event in prepare(state)]

    return asyncio.run(consume())


def test_two_good_runs_come_before_the_analysis_and_are_recorded(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    recorded: list[ReproductionEvent] = []
    state.record = recorded.append

    seen = prepared(state)

    first, second, analysed = seen
    assert recorded == seen
    assert isinstance(first, GoodRunFinished)
    assert isinstance(second, GoodRunFinished)
    assert (first.number, second.number) == (1, 2)
    assert isinstance(analysed, ProgramAnalysed)
    assert analysed.messages == ("cannot store", "lost for good")
    assert (analysed.sites, analysed.related_sites, analysed.visits, analysed.unvisited) == (3, 1, 15, ())
    assert len(state.prepared.good_visits) == 15


@pytest.mark.parametrize(
    ("failure_log", "prints", "read_so"),
    [
        (FAILURE_LOG, None, False),
        (FAILURE_LOG, True, True),
        ("order 7 is sent\ncaught an OSError\n", None, True),
        ("order 7 is sent\ncaught an OSError\n", False, False),
    ],
)
def test_what_is_printed_is_log_where_no_logger_wrote_the_failure_log(
    tmp_path: Path, failure_log: str, *, prints: bool | None, read_so: bool
) -> None:
    case = replace(toy_case(tmp_path), failure_log=failure_log, prints=prints)
    subject = asyncio.run(read_subject(case, ToyFrontEnd()))
    assert subject.case.prints is read_so


@pytest.mark.parametrize(
    ("said_by_run", "runs"),
    [
        (["", ""], 2),
        (["", "cache is warm", "cache is warm"], 3),
        (["cache is warm", "", ""], 3),
        (["", "cache is warm", "lock is free", "disk is slow"], 4),
    ],
)
def test_good_runs_go_on_while_each_shows_something_else_that_comes_and_goes(
    tmp_path: Path, said_by_run: list[str], runs: int
) -> None:
    case = toy_case(tmp_path)
    for number, said in enumerate(said_by_run):
        (tmp_path / f"said-{number}").write_text(said)
    saying = f"""
said = next(path for n in range(9) if os.path.exists(path := {str(tmp_path)!r} + "/said-%d" % n))
text = open(said).read()
os.remove(said)
if text:
    say("INFO", text)
turn_limit ="""
    (tmp_path / "runtime.py").write_text(RUNTIME.replace("\nturn_limit =", saying))
    state = toy_state(case, tmp_path)

    done = [event for event in prepared(state) if isinstance(event, GoodRunFinished)]

    assert [event.number for event in done] == list(range(1, runs + 1))
    assert len(state.prepared.good) == runs


def test_rounds_are_ended_by_how_long_good_runs_take_and_never_later_than_asked_for(tmp_path: Path) -> None:
    case = toy_case(tmp_path)
    patient = toy_state(replace(case, workload=replace(case.workload, timeout_s=3600)), tmp_path)
    prepared(patient)
    assert patient.workload.timeout_s < 3600
    impatient = toy_state(replace(case, workload=replace(case.workload, timeout_s=10)), tmp_path / "other")
    prepared(impatient)
    assert impatient.workload.timeout_s == 10


def test_good_runs_that_are_known_are_not_run_again(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    done = [event for event in prepared(state) if isinstance(event, GoodRunFinished)]
    again = toy_state(toy_case(tmp_path), tmp_path)
    again.past_good = {event.number: event for event in done}
    (tmp_path / "runtime.py").unlink()  # nothing can run without it

    assert prepared(again)[:2] == done


@pytest.mark.parametrize(
    ("log", "message"),
    [("", "The failure log has no entries"), (log_of("fetch done"), "")],
)
def test_a_failure_log_must_have_entries(tmp_path: Path, log: str, message: str) -> None:
    reading = read_subject(toy_case(tmp_path, log=log), ToyFrontEnd())
    if not message:
        assert len(asyncio.run(reading).failure) == 1
        return
    with pytest.raises(UsageError, match=message):
        asyncio.run(reading)


def test_a_program_must_have_sites(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is nothing to inject in"):
        asyncio.run(read_subject(toy_case(tmp_path, program=""), ToyFrontEnd()))


@pytest.mark.parametrize(
    ("oracle", "turns", "log", "message"),
    [
        ("log:fetch done", 5, FAILURE_LOG, "The oracle holds without any fault: run.log:1"),
        ("log:lost", -1, FAILURE_LOG, "The workload fails by itself, without any fault: exit code 3"),
        ("log:lost", 5, log_of(*["fetch done", "store done", "check done"] * 5), "nothing that good runs lack"),
    ],
)
def test_what_good_runs_show_to_be_wrong_is_said(
    tmp_path: Path, oracle: str, turns: int, log: str, message: str
) -> None:
    state = toy_state(toy_case(tmp_path, oracle, turns=turns, log=log), tmp_path)
    with pytest.raises(UsageError, match=message):
        prepared(state)


def test_a_search_is_the_same_if_what_rounds_depend_on_is(tmp_path: Path) -> None:
    subject = toy_state(toy_case(tmp_path), tmp_path).subject
    settings = ReproductionSettings()
    same = identity(subject, replace(settings, rounds=7, jobs=3, minimise=True))
    assert identity(subject, settings) == same
    assert identity(subject, replace(settings, faults=(FaultKind.HANG,))) != same
    other = toy_state(toy_case(tmp_path, program="fetch | no |\n"), tmp_path).subject
    changed = {name for name, value in identity(other, settings).items() if value != same[name]}
    assert changed == {"content of the source"}

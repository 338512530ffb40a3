import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from tests.samples.reproduction import fault
from tests.samples.toy_language import log_of, toy_case, toy_state

from cutset.model.reproduction.event import OracleAnswer, RoundFinished, RoundStage
from cutset.model.reproduction.result import LogAgreement
from cutset.reproduce.prepare import prepare


def finished(
    number: int, answer: OracleAnswer = OracleAnswer.YES, unlike: int = 0, *, values: int = 0, site: int = 1
) -> RoundFinished:
    fired = fault(number=site, effect="fail()")
    agreement = LogAgreement(values=values)
    return RoundFinished(
        number, RoundStage.SINGLE, fired, answer, "", (), 1.0, Path(), unlike=unlike, agreement=agreement
    )


async def consume(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass


def test_rounds_that_are_left_never_go_below_none(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path, rounds=2)
    assert state.rounds_left == 2
    state.tried += [finished(1), finished(2), finished(3)]
    assert state.rounds_left == 0


def test_what_was_tried_again_holds_as_often_as_it_showed_the_symptom(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    assert state.held(finished(1)) == 0
    state.repeats[1] = [finished(2), finished(3, OracleAnswer.NO), finished(4)]
    assert state.held(finished(1)) == 2


def test_the_log_that_is_most_like_the_failure_log_comes_first(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    asyncio.run(consume(prepare(state)))
    near, far = 1, 0  # `store` leads to what the failure log says, `fetch` to nothing in it
    rounds = [
        finished(1, unlike=2, site=near),
        finished(2, values=1, site=near),
        finished(3, site=far),
        finished(5, site=near),
        finished(4, site=near),
    ]
    # By messages, then by values, then by what is likelier, then by who was first.
    assert [found.number for found in sorted(rounds, key=state.likeness)] == [4, 5, 3, 2, 1]


def test_no_round_is_left_when_time_is_up(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path, minutes=1)
    assert state.rounds_left
    state.started -= 61
    assert state.out_of_time
    assert not state.rounds_left


def test_logs_of_a_run_are_read_one_after_the_other_as_far_as_they_are_there(tmp_path: Path) -> None:
    subject = toy_state(toy_case(tmp_path), tmp_path).subject
    paths = [tmp_path / name for name in ("a.log", "gone.log", "b.log")]
    paths[0].write_text(log_of("one"))
    paths[2].write_text(log_of("two"))
    assert [record.message for record in subject.records_of(paths)] == ["one", "two"]


def test_with_the_logs_of_runs_the_failure_log_is_read_by_the_formats_of_all(tmp_path: Path) -> None:
    run = tmp_path / "run.log"
    subject = toy_state(toy_case(tmp_path, log="12:00:01 INFO up\n12:00:02 lost\n12:00:03 lost\n"), tmp_path).subject
    assert subject.failure[1].message == "lost"  # by its time

    run.write_text("12:00:01 INFO up\n" * 9)
    assert subject.with_logs([run], [run]).failure[1].message == "12:00:02 lost"

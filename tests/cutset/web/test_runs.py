import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator

import pytest

from cutset.errors import HaltedError, UsageError
from cutset.model.run import Loop, RunStarted
from cutset.web.runs import StartedRun, StartedRuns

STARTED = RunStarted(loop=Loop.CAMPAIGN, run="one")
SECONDS = 20  # to wait for a thread that does not come


class Waiting:
    """A run that goes on until it is told to end, and cleans up then."""

    def __init__(self) -> None:
        self.begun, self.released, self.cleaned_up = threading.Event(), threading.Event(), threading.Event()

    def _until_released(self) -> None:
        self.released.wait(SECONDS)

    async def __call__(self) -> AsyncGenerator[RunStarted, None]:
        try:
            yield STARTED
            self.begun.set()
            await asyncio.to_thread(self._until_released)
        finally:
            self.released.set()
            await asyncio.sleep(0.3)  # a second cancellation would end this
            self.cleaned_up.set()


async def at_once() -> AsyncGenerator[RunStarted, None]:
    yield STARTED


def ended(runs: StartedRuns) -> StartedRun:
    while runs.current:
        time.sleep(0.01)
    assert runs.latest
    return runs.latest


def test_a_run_goes_on_in_a_thread_of_its_own_to_its_end() -> None:
    runs = StartedRuns()
    assert (runs.latest, runs.current) == (None, None)
    runs.start("A campaign", at_once, finish=len)

    run = ended(runs)
    assert (run.what, run.id, run.problem, run.result) == ("A campaign", "one", "", 1)


def test_the_id_of_what_is_resumed_is_known_from_the_beginning() -> None:
    runs, waiting = StartedRuns(), Waiting()
    runs.start("A campaign", waiting, run="earlier")
    assert runs.current
    assert runs.current.id == "earlier"
    runs.close()
    assert ended(runs).id == "earlier"


def test_a_second_one_is_refused_with_words_while_one_is_under_way() -> None:
    runs, waiting = StartedRuns(), Waiting()
    runs.start("A campaign", waiting)
    assert waiting.begun.wait(SECONDS)
    assert runs.current
    assert runs.current.id == "one"

    with pytest.raises(UsageError, match="A campaign is under way"):
        runs.start("Another", at_once)
    waiting.released.set()
    assert ended(runs).problem == ""
    runs.start("Another", at_once)
    assert ended(runs).what == "Another"


def test_who_stops_it_again_and_again_lets_it_clean_up_all_the_same() -> None:
    runs, waiting = StartedRuns(), Waiting()
    runs.start("A campaign", waiting)
    assert waiting.begun.wait(SECONDS)
    for _ in range(5):
        runs.stop()
    runs.close()

    assert waiting.cleaned_up.is_set()
    assert runs.latest
    assert (runs.latest.ended, runs.latest.problem) == (True, "stopped")
    assert "resumed" in runs.latest.hint


def test_what_is_stopped_before_it_has_begun_ends_too() -> None:
    runs, held, waiting = StartedRuns(), threading.Event(), Waiting()

    def begin() -> AsyncGenerator[RunStarted, None]:
        assert held.wait(SECONDS)
        return waiting()

    runs.start("A campaign", begin)
    runs.stop()
    held.set()
    assert ended(runs).problem == "stopped"


def test_stopping_has_no_effect_on_what_ended_nor_on_what_comes_next() -> None:
    runs = StartedRuns()
    runs.stop()
    runs.start("A campaign", at_once)
    ended(runs)
    runs.stop()
    runs.start("Another", at_once)
    assert ended(runs).problem == ""


def test_what_is_stopped_while_its_result_is_made_is_left_in_peace() -> None:
    runs, begun, held = StartedRuns(), threading.Event(), threading.Event()

    def finish(_: object) -> str:
        begun.set()
        assert held.wait(SECONDS)
        return "made"

    runs.start("A campaign", at_once, finish)
    assert begun.wait(SECONDS)
    runs.stop()
    held.set()
    assert ended(runs).result == "made"


def test_why_it_ended_is_told_with_what_to_do() -> None:
    async def halted() -> AsyncGenerator[RunStarted, None]:
        yield STARTED
        raise HaltedError("A guard tripped", hint="See `cutset audit`")

    runs = StartedRuns()
    runs.start("A campaign", halted)
    assert (ended(runs).problem, ended(runs).hint) == ("A guard tripped", "See `cutset audit`")


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit(2)])
def test_a_mistake_ends_the_run_only_and_is_reported(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    async def mistaken() -> AsyncGenerator[RunStarted, None]:
        yield STARTED
        raise error

    runs = StartedRuns()
    with caplog.at_level(logging.ERROR):
        runs.start("A campaign", mistaken)
        run = ended(runs)
    assert type(error).__name__ in run.problem
    assert "report it" in run.hint
    (record,) = caplog.records
    assert record.exc_info
    assert record.exc_info[1] is error


def test_who_waits_for_the_id_gets_it_or_the_end() -> None:
    runs, waiting = StartedRuns(), Waiting()
    assert runs.await_id(0) is None
    runs.start("x", waiting, place="/hardenings")
    named = runs.await_id(SECONDS)
    assert named
    assert (named.address, named.ended) == ("/hardenings/one", False)
    waiting.released.set()
    ended(runs)

    async def refused() -> AsyncGenerator[RunStarted, None]:
        raise UsageError("no")
        yield STARTED

    runs.start("x", refused)
    nameless = runs.await_id(SECONDS)
    assert nameless
    assert (nameless.address, nameless.problem) == ("/campaigns", "no")

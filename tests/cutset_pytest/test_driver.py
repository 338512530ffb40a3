import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from tests.samples.small_shop import cut

from cutset.experiment.trial import UNDER_WAY, TrialUnderWay
from cutset.model.fault import BASELINE, Cut
from cutset.model.request import Response
from cutset_pytest.driver import PASSED, Bodies
from cutset_pytest.under_test import BodyRun

ADS = cut("ad/GET /ads")


async def ask(bodies: Bodies, *cuts: Cut) -> list[Response]:
    """As a laboratory does, for trials one after the other."""
    answers = []
    for each in cuts:
        UNDER_WAY.set(TrialUnderWay(None, "1", "2", each, None))
        answers.append(await bodies.ask({}))
    return answers


def served(body: Callable[[BodyRun], None], *cuts: Cut) -> list[Response]:
    bodies, answers = Bodies(body), []

    def laboratory() -> None:
        try:
            answers.extend(asyncio.run(ask(bodies, *cuts)))
        except asyncio.CancelledError:
            pass
        finally:
            bodies.jobs.put(None)

    thread = threading.Thread(target=laboratory)
    thread.start()
    try:
        bodies.serve()
    except BaseException:
        bodies.refuse()
        raise
    finally:
        thread.join()
    return answers


def test_bodies_run_in_the_thread_of_pytest_and_what_they_raise_is_what_the_user_sees():
    threads = set()

    def body(run: BodyRun) -> None:
        run.note_sent()
        threads.add(threading.current_thread())
        if run.cut:
            raise ValueError("bad\nworse")

    good, bad = served(body, BASELINE, ADS)

    assert (good.status, good.error, good.exchanges, good.sent) == (PASSED, "", 1, True)
    assert (bad.status, bad.error) == (0, "ValueError: bad")
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("error", [AssertionError("no"), pytest.fail.Exception("no"), pytest.skip.Exception("no")])
def test_a_body_that_fails_or_skips_without_any_fault_ends_the_test_at_once(error):
    def body(run: BodyRun) -> None:
        raise error

    with pytest.raises(type(error)):
        served(body, BASELINE, ADS)


def test_a_body_that_failed_without_a_fault_after_it_had_passed_is_for_the_laboratory_to_judge():
    runs = []

    def body(run: BodyRun) -> None:
        runs.append(run)
        assert len(runs) == 1

    assert [answer.status for answer in served(body, BASELINE, BASELINE)] == [PASSED, 0]


def test_a_body_that_skips_itself_under_a_fault_proves_nothing():
    def body(run: BodyRun) -> None:
        if run.cut:
            pytest.skip("who knows")

    (_, answer) = served(body, BASELINE, ADS)

    assert answer.void == "the test skipped itself: who knows"


def test_the_wait_for_a_trace_is_not_part_of_the_time_that_an_answer_takes():
    def body(run: BodyRun) -> None:
        run.waited = 1000.0

    assert served(body, BASELINE)[0].seconds < 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, pytest.exit.Exception])
def test_what_ends_the_session_ends_it_whatever_is_injected(error):
    def body(run: BodyRun) -> None:
        if run.cut:
            raise error("now")

    with pytest.raises(error):
        served(body, BASELINE, ADS)


def test_nothing_else_begins_before_a_body_that_took_too_long_has_ended():
    order: list[str] = []
    begun = threading.Event()

    def body(run: BodyRun) -> None:
        order.append(f"begins {len(run.cut)}")
        if run.cut:
            begun.set()
            time.sleep(0.1)  # what nobody can interrupt
        order.append(f"ends {len(run.cut)}")

    bodies = Bodies(body)

    async def impatient() -> None:
        await ask(bodies, BASELINE)
        slow = asyncio.ensure_future(ask(bodies, ADS))
        await asyncio.to_thread(begun.wait)
        slow.cancel()
        await asyncio.wait([slow])
        await ask(bodies, BASELINE)

    def laboratory() -> None:
        asyncio.run(impatient())
        bodies.jobs.put(None)

    thread = threading.Thread(target=laboratory)
    thread.start()
    bodies.serve()
    thread.join()

    assert order == ["begins 0", "ends 0", "begins 1", "ends 1", "begins 0", "ends 0"]

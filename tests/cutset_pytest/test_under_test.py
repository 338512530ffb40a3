import asyncio
from concurrent.futures import Future
from dataclasses import dataclass

import pytest
from tests.samples.small_shop import cut

from cutset.model.fault import BASELINE, Cut
from cutset_pytest.under_test import AsyncUnderTest, BodyAnswer, BodyRun, UnderTest

ADS = cut("ad/GET /ads:timeout")
BOTH = ADS | cut("cart/GET /items")


@dataclass
class Told:
    """What the mesh says, at once."""

    cut: Cut
    asked: list[int]

    async def fired(self, exchanges: int) -> Cut:
        self.asked.append(exchanges)
        return self.cut


def at_once(coroutine: object) -> "Future[object]":
    done: Future[object] = Future()
    done.set_result(asyncio.run(coroutine))
    return done


async def echo(run: BodyRun, method: str, url: str, **options: object) -> BodyAnswer:
    return BodyAnswer(200, options["headers"], f"{method} {url}".encode())


def under_test(kind: type[UnderTest] = UnderTest) -> UnderTest:
    return kind("http://shop", at_once, echo)


def run_with(fired: Cut) -> BodyRun:
    return BodyRun({"tracestate": "plan"}, Told(fired, []))


@pytest.mark.parametrize(
    ("fired", "names", "only"),
    [
        (ADS, ["ad"], True),
        (ADS, ["ad/GET /ads"], True),
        (ADS, ["cart"], False),
        (ADS, ["ad/GET /other"], False),
        (BOTH, ["ad"], False),
        (BOTH, ["ad", "cart/GET /items"], True),
        (BASELINE, ["ad"], False),
    ],
)
def test_fired_only_means_that_something_fired_and_nothing_elsewhere(fired, names, only):
    tested = under_test()
    with tested.running(run_with(fired)):
        assert tested.fired_only(*names) is only
        assert tested.fired == fired


def test_requests_of_the_fixture_carry_the_plan_and_are_counted(capsys):
    tested, run = under_test(), run_with(ADS)
    with tested.running(run):
        answer = tested.post("/cart", headers={"x-own": "1"})
        assert tested.fired == ADS

    assert (answer.text, answer.headers) == ("POST http://shop/cart", {"x-own": "1", "tracestate": "plan"})
    assert (run.exchanges, run.trial.asked, run.told) == (1, [1], ADS)


def test_whoever_takes_the_headers_may_send_any_number_of_requests():
    tested, run = under_test(), run_with(ADS)
    with tested.running(run):
        tested.get("/")
        assert tested.headers == {"tracestate": "plan"}

    assert run.exchanges == 0


def test_without_faults_nothing_fires_and_nobody_waits_for_a_trace():
    tested = under_test()

    assert (tested.fired, tested.fired_only("ad"), tested.cut, tested.headers) == (BASELINE, False, BASELINE, {})


def test_a_coroutine_awaits_and_what_is_not_awaited_has_no_truth():
    tested = under_test(AsyncUnderTest)

    async def body() -> None:
        loop = asyncio.get_running_loop()
        tested._submit = lambda coroutine: _in(loop, coroutine)
        assert (await tested.get("/")).status_code == 200
        assert await tested.fired == BASELINE
        with pytest.raises(TypeError, match="awaited"):
            assert not tested.fired

    asyncio.run(body())


def _in(loop: asyncio.AbstractEventLoop, coroutine: object) -> "Future[object]":
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def test_what_was_told_before_another_request_is_not_held_against_the_whole_trace():
    tested, run = under_test(), run_with(ADS)
    with tested.running(run):
        tested.get("/")
        assert tested.fired == ADS
        tested.get("/again")

    assert (run.told, run.exchanges) == (None, 2)

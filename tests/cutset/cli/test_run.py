"""A command that is told to end, ends by cancellation."""

import asyncio
import os
import signal

import pytest

from cutset.cli.run import run_async, stopped_by_signals


async def value() -> int:
    return 7


def test_returns_what_the_coroutine_returns() -> None:
    assert run_async(value()) == 7


def test_sigterm_cancels_at_the_next_await_and_never_in_the_midst_of_other_code() -> None:
    seen = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        seen.append("the line after the signal")
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("cleaned up")

    with pytest.raises(SystemExit) as end:
        run_async(work())
    assert end.value.code == 143
    assert seen == ["the line after the signal", "cleaned up"]


def test_the_former_handler_is_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    run_async(value())
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_cancellations_pass() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_async(work())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_what_goes_on_until_then(number: signal.Signals) -> None:
    async def work() -> None:
        stopped = stopped_by_signals()
        assert not stopped.is_set()
        os.kill(os.getpid(), number)
        await stopped.wait()

    asyncio.run(work())

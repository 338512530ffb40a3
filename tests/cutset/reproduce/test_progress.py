import pytest

from cutset.reproduce.progress import nobody_watches, watched


def test_what_is_watched_is_told_now_and_then():
    told: list[tuple[int, int, str]] = []
    assert list(watched("abcde", lambda *said: told.append(said), "letters", every=2)) == list("abcde")
    assert told == [(0, 5, "letters"), (2, 5, "letters"), (4, 5, "letters")]


def test_whoever_is_told_may_stop_it():
    def stop(done: int, total: int, what: str) -> None:
        raise InterruptedError(what)

    with pytest.raises(InterruptedError):
        list(watched([1, 2, 3], stop, "numbers"))


def test_nobody_has_to_watch():
    assert list(watched([1], nobody_watches, "numbers")) == [1]

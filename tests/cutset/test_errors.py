import re

import pytest

from cutset import errors
from cutset.errors import CutsetError, UsageError

DRAWN = dict(re.findall(r"── (\w+) .*exit (\d)", errors.__doc__ or ""))


def test_the_drawing_shows_every_error_with_its_exit_code() -> None:
    assert {kind.__name__: str(kind.exit_code) for kind in CutsetError.__subclasses__()} == DRAWN


def test_an_error_has_a_message_and_may_have_a_hint() -> None:
    error = UsageError("`x` is no number", hint="Write one")

    assert (str(error), error.message, error.hint) == ("`x` is no number", "`x` is no number", "Write one")
    assert CutsetError("only that").hint == ""


@pytest.mark.parametrize("code", [0, 1])
def test_no_error_looks_like_an_answer(code: int) -> None:
    assert str(code) not in DRAWN.values()

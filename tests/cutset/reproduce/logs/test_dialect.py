"""Every dialect, the same promises: what reads logs relies on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.toy_language import ToyLogs

from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.logs.dialect import LogDialect
from cutset.reproduce.python.log_dialect import PythonLogs

DIALECTS = (PythonLogs(), JvmLogs(), ToyLogs())
LINES = st.lists(st.text(alphabet="aT=:. \t_E\n{", max_size=12).map(lambda text: text.replace("\n", "")), max_size=8)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@given(lines=LINES)
def test_lines_keep_their_numbers_and_their_order(dialect: LogDialect, lines: list[str]):
    numbers = [number for number, _ in dialect.undecorated(lines)]
    assert numbers == sorted(numbers)
    assert set(numbers) <= set(range(1, len(lines) + 1))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@given(lines=LINES)
def test_any_text_can_be_asked_about(dialect: LogDialect, lines: list[str]):
    for number, line in enumerate(lines):
        assert dialect.begins_trace(line) in (True, False)
        assert dialect.continues_trace(lines[: number + 1], line, formatted=True) in (True, False)
        assert dialect.resumes_trace(lines[: number + 1], line) in (True, False)
        assert isinstance(dialect.uncaught(line), str | None)
    assert all(isinstance(told, str) for told in dialect.raised(lines))
    places = [f"run.log:{number}" for number in range(len(lines))]
    assert {place for place, _, _ in dialect.exceptions(zip(places, lines, strict=True))} <= set(places)

import pytest

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.oracle.terms import is_symptom, own_symptoms, told_by_a_log


@pytest.mark.parametrize(
    ("oracle", "expected"),
    [("log:9 of 10", True), ("exit:1 and (log:x or log:'sent 9')", True), ("not log:9 of 10", False), ("hang", False)],
)
def test_a_log_line_is_the_symptom_if_the_oracle_looks_for_it(oracle, expected):
    assert is_symptom(LogRecord(1, "", "", "INFO", "sent 9 of 10"), parse_oracle(oracle)) is expected


@pytest.mark.parametrize(
    ("oracle", "warns"),
    [("exception:JSONDecodeError", True), ("log:JSONDecodeError.*", True), ("log:lost", False), ("exit:1", False)],
)
def test_an_oracle_that_asks_for_what_is_injected_proves_little(oracle, warns):
    assert bool(own_symptoms("json.JSONDecodeError('x', '', 0)", parse_oracle(oracle))) is warns


@pytest.mark.parametrize(
    ("oracle", "part"),
    [
        ("log:lost", "log:lost"),
        ("exit:!0", None),
        ("not exit:0", None),
        ("exit:!0 and not log:lost", "not log:lost"),
        ("hang or missing:done or exception:OSError", "missing:done or exception:OSError"),
        ("(exit:1 or log:a) and (log:b or signal:9)", "log:a and log:b"),
    ],
)
def test_the_part_that_a_log_tells_is_that_about_lines(oracle, part):
    kept = told_by_a_log(parse_oracle(oracle))
    assert (kept and str(kept)) == part

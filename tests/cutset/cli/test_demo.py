"""How it compares with the answer key; the demo itself is in `tests/end_to_end`."""

from dataclasses import replace

import pytest
from tests.samples.campaign import EVENTS

from cutset.app.demo import AnswerCheck
from cutset.cli.demo import show_check
from cutset.model.summary import summarise

SUMMARY = summarise(EVENTS)
COMPLETE = replace(
    SUMMARY,
    requests=tuple(replace(each, problem="", undecided=(), predicted=()) for each in SUMMARY.requests),
    finished=True,
)


@pytest.mark.parametrize(
    ("check", "summary", "code", "said"),
    [
        (AnswerCheck((), (), 4), COMPLETE, 0, "Exactly the 4 minimal cuts of the answer key\n"),
        (AnswerCheck(("missed: GET / [a]",), (), 4), COMPLETE, 1, "missed: GET / [a]\nThis is not what the answer key"),
        (AnswerCheck((), ("not found yet: GET / a/B",), 4), replace(COMPLETE, finished=False), 3, "not found yet: GET"),
    ],
)
def test_the_exit_code_says_whether_the_key_was_met(check, summary, code, said, capsys) -> None:
    assert show_check(summary, check) == code
    assert capsys.readouterr().err.startswith(said)

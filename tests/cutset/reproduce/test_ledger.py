import json

import pytest

from cutset.errors import TargetError, UsageError
from cutset.model.reproduction import Choice, Visit
from cutset.reproduce.events import Stage
from cutset.reproduce.ledger import append, begin, held
from cutset.reproduce.runner import Fired
from cutset.reproduce.symptoms import Answer
from cutset.reproduce.tried import Tried, tried_fields, tried_of

CASE = {"run": ["python", "w.py"], "oracle": "hang"}
FIRED = Fired(Choice(3, 2, "OSError(5, 'x')"), 7, 0, "MainThread", ("a.py:1 in f", "b.py:2 in g"))


def test_what_was_appended_is_there_again(tmp_path):
    assert begin(tmp_path, CASE) == []
    append(tmp_path, {"round": {"number": 1}})
    assert begin(tmp_path, CASE) == [{"round": {"number": 1}}]


def test_a_line_that_was_cut_short_is_dropped_and_does_not_spoil_the_next(tmp_path):
    begin(tmp_path, CASE)
    append(tmp_path, {"round": 1})
    with (tmp_path / "ledger.jsonl").open("a") as file:
        file.write('{"round": 2, "rea')
    assert begin(tmp_path, CASE) == [{"round": 1}]
    append(tmp_path, {"round": 3})
    assert begin(tmp_path, CASE) == [{"round": 1}, {"round": 3}]


@pytest.mark.parametrize("damage", [b'{"round": 1, "rea', b"\xff\xfe", b"[1]", b""])
def test_a_damaged_line_in_the_middle_is_named(tmp_path, damage):
    begin(tmp_path, CASE)
    with (tmp_path / "ledger.jsonl").open("ab") as file:
        file.write(damage + b"\n")
    append(tmp_path, {"round": 2})

    with pytest.raises(UsageError, match=r"ledger\.jsonl`, line 2, is damaged") as error:
        begin(tmp_path, CASE)
    assert "Remove the line" in error.value.hint


def test_another_case_or_another_format_is_refused(tmp_path):
    begin(tmp_path, CASE)
    with pytest.raises(UsageError, match="another case: oracle changed"):
        begin(tmp_path, {**CASE, "oracle": "exit:1"})
    (tmp_path / "ledger.jsonl").write_text(json.dumps({"format": 99, "case": CASE}) + "\n")
    with pytest.raises(UsageError, match="format 99"):
        begin(tmp_path, CASE)


def test_a_ledger_that_was_lost_before_its_first_line_is_begun_anew(tmp_path):
    (tmp_path / "ledger.jsonl").write_text('{"form')
    assert begin(tmp_path, CASE) == []
    assert begin(tmp_path, CASE) == []


def test_a_folder_has_one_search_at_a_time(tmp_path):
    with held(tmp_path), pytest.raises(UsageError, match="still running"), held(tmp_path):
        pass
    with held(tmp_path):
        pass


def test_a_full_disk_says_that_nothing_is_lost(tmp_path):
    with pytest.raises(TargetError, match="Cannot write") as error:
        append(tmp_path / "gone", {})
    assert "--resume" in error.value.hint


@pytest.mark.parametrize("fired", [None, FIRED])
def test_a_round_is_the_same_after_it_was_written_and_read(fired):
    tried = Tried(
        number=4,
        stage=Stage.SECOND,
        first=(Choice(1, 1, "hang()"),),
        window=(Choice(3, 2, "OSError(5, 'x')"), Choice(4, 0, "crash()")),
        size=10,
        fired=fired,
        fired_first=(FIRED,),
        answer=Answer.CANNOT_TELL,
        reason="why",
        shown=frozenset({"a", "b"}),
        unlike=3,
        visits=(Visit(3, 1, 2, 0, "T"),),
        logs=("run.log",),
        seconds=1.5,
        problems=("p",),
    )
    assert tried_of(json.loads(json.dumps(tried_fields(tried)))) == tried

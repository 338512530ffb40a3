import json
from dataclasses import replace
from pathlib import Path

from tests.samples.reproduction import faithful, result, sample

from cutset.report.reproduction.json import to_document


def test_the_document_has_everything_and_is_json(tmp_path: Path) -> None:
    document = to_document(sample(tmp_path))

    assert json.loads(json.dumps(document)) == document
    assert (document["format"], document["reproduced"], document["grade"]) == (2, True, "symptom")
    assert document["best"]["agreement"] == {
        "explained": 4,
        "lacking": [{"line": 9, "text": "compacted"}],
        "added": [{"line": 9, "text": "not compacted"}],
        "values": 1,
        "otherwise": [{"line": 3, "text": "cannot write the index: [Errno 28] No space left on device"}],
        "apart": 0,
    }
    assert document["case"] == {
        "sources": ["diskqueue"],
        "command": ["python", "workload.py"],
        "oracle": "log:kept 3",
        "language": "python",
    }
    (told,) = document["best"]["faults"]
    assert told["what"] == "`file.write` raises `OSError(28, 'No space left on device')`"
    assert told["failure_log_line"] == 3
    assert document["best"]["messages"][0]["chain"][0] == {
        "kind": "external exception",
        "module": "diskqueue",
        "function": "DiskQueue._write_index",
        "line": 11,
        "text": "file.write",
        "observed": True,
    }
    assert document["first_found"] == document["best"]


def test_the_document_of_a_search_that_found_nothing(tmp_path: Path) -> None:
    document = to_document(result(None))

    assert (document["reproduced"], document["best"], document["first_found"]) == (False, None, None)
    assert document["summary"] == "12 rounds tried 11 faults at 5 sites"


def test_those_that_explain_as_much_are_named_by_their_rounds(tmp_path: Path) -> None:
    best = faithful(tmp_path)
    document = to_document(result(best, replace(best, round=8), replace(best, round=9, unlike=1)))

    assert document["equals"] == [8]
    assert [each["grade"] for each in document["alternatives"]] == ["log", "symptom"]


def test_what_no_repeat_shows_is_not_reproduced_but_told(tmp_path: Path) -> None:
    document = to_document(result(faithful(tmp_path, repeated=0)))

    assert (document["reproduced"], document["grade"]) == (False, "nothing")
    assert document["best"]["repeats"] == 2

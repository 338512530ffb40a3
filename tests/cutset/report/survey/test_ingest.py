from cutset.model.survey import Ingested, Unread
from cutset.report.survey.ingest import SHOWN_PROBLEMS, to_document, to_lines

SKIPPED = Unread("malformed line", 2, "spans.jsonl: line 7")


def test_what_was_read_skipped_and_forgotten_is_told() -> None:
    ingested = Ingested(2, 1200, 1000, 30, (SKIPPED,), ("a.txt is no trace",) * (SHOWN_PROBLEMS + 2), 1.25)
    assert list(to_lines(ingested)) == [
        "Read 1,200 spans of 2 sources in 1.2 s, 200 spans of them stored already",
        "  skipped 2 × malformed line  [dim]first at spans.jsonl: line 7[/]",
        "[yellow]12 sources not read, or not to the end[/]; `cutset traces` says which and why",
        "Forgot 30 spans that were too old",
        "[dim]Next: `cutset classes` shows which requests these are[/]",
    ]


def test_what_did_not_happen_is_not_told() -> None:
    first, following = to_lines(Ingested(1, 1, 1, 0, (), (), 0.5))
    assert first == "Read 1 span of 1 source in 0.5 s"
    assert following.startswith("[dim]Next:")


def test_the_document_has_all_of_it() -> None:
    assert to_document(Ingested(1, 3, 2, 0, (SKIPPED,), ("torn",), 0.12345)) == {
        "sources": 1,
        "spans_read": 3,
        "spans_new": 2,
        "spans_forgotten": 0,
        "skipped": [{"reason": "malformed line", "count": 2, "first_at": "spans.jsonl: line 7"}],
        "problems": ["torn"],
        "seconds": 0.123,
    }

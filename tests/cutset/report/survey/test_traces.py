from dataclasses import replace
from pathlib import Path

from cutset.report.survey.traces import SHOWN_INGESTS, SHOWN_SERVICES, refused_lines, to_document, to_lines
from cutset.store.manifest import IngestRecord, SpanPart, SpanStore
from cutset.store.shapes import Totals

START_NS = 1_700_000_000_000_000_000
PART = SpanPart("2023-11-14T22/a.parquet", "2023-11-14T22", 48, START_NS, START_NS + 60_000_000_000, "01", "ff")
RECORD = IngestRecord("[spans].jsonl", "", 1_700_000_100.0, 50, 48, {"malformed line": 2})
STORED = SpanStore(Path("/store/traces"), (PART,), (RECORD,), {"jaeger until": START_NS})
TOTALS = Totals(20, 48, (("web", 40, 4), ("cart", 8, 0)), (("2023-11-14T22", 48),))


def test_what_is_stored_is_told_with_where_it_came_from() -> None:
    assert list(to_lines(STORED, TOTALS)) == [
        "20 traces, 48 spans, 2 services, from 2023-11-14 22:13:20 to 2023-11-14 22:14:20 UTC",
        "",
        "[bold]spans  errors  service[/]",
        "   40  10.0 %  web",
        "    8       –  cart",
        "\n[bold]latest ingests[/]",
        "2023-11-14 22:15:00  \\[spans].jsonl  [dim]50 spans, 48 new; skipped 2 × malformed line[/]",
    ]


def test_what_was_refused_is_told_with_the_reason_until_it_was_read() -> None:
    torn = replace(RECORD, source="b.json", problem="b.json ends in the middle of line 7")
    refused = IngestRecord("[c].txt", "", 1_700_000_200.0, 0, 0, {}, "The format of [c].txt is not known")
    stored = replace(STORED, log=(RECORD, replace(RECORD, problem="once"), torn, refused, RECORD))
    lines = list(to_lines(stored, TOTALS))
    start = lines.index("[bold]2 sources refused, or not read to the end[/]")
    assert lines[start + 1 : start + 3] == [
        "2023-11-14 22:16:40  The format of \\[c].txt is not known",
        "2023-11-14 22:15:00  b.json ends in the middle of line 7  [dim]50 spans before that are kept[/]",
    ]
    latest = lines[lines.index("\n[bold]latest ingests[/]") + 1 :]
    assert ["; refused" in line for line in latest] == [False, True, False, False, False]
    assert ["; not to its end" in line for line in latest] == [False, False, True, True, False]
    assert to_document(stored, TOTALS)["refused"] == [
        {"source": "[c].txt", "at": 1_700_000_200.0, "problem": "The format of [c].txt is not known"},
        {"source": "b.json", "at": 1_700_000_100.0, "problem": "b.json ends in the middle of line 7"},
    ]


def test_of_many_refused_sources_the_latest_are_shown() -> None:
    log = tuple(replace(RECORD, source=str(number), problem="no") for number in range(SHOWN_INGESTS + 2))
    assert list(refused_lines(replace(STORED, log=log)))[-1] == "[dim]and 2 more; `--json` has all[/]"


def test_of_many_services_the_largest_are_shown() -> None:
    many = Totals(1, 1, tuple((f"s{number}", 1, 0) for number in range(SHOWN_SERVICES + 3)), ())
    assert "[dim]and 3 more[/]" in list(to_lines(STORED, many))


def test_the_document_has_all_of_it() -> None:
    document = to_document(STORED, TOTALS)
    assert document["services"] == [
        {"name": "web", "spans": 40, "errors": 4},
        {"name": "cart", "spans": 8, "errors": 0},
    ]
    assert document["hours"] == {"2023-11-14T22": 48}
    assert document["ingests"][0]["skipped"] == {"malformed line": 2}
    assert document["cursors"] == {"jaeger until": START_NS}

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.reproduction import (
    FAILURE_LOG,
    MESSAGES,
    RUN_LOG,
    comparison,
    faithful,
    fault,
    reproduction,
    result,
    sample,
)

from cutset.model.reproduction.result import ReproductionResult
from cutset.report.reproduction.page import MOST_ROWS, reproduction_page

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Checks that tags are closed in order; gathers tags and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def page_of(found: ReproductionResult, failure_log: str = FAILURE_LOG) -> str:
    return reproduction_page(found, None if found.best is None else comparison(found.best, failure_log))


def test_the_page_answers_the_questions_in_order(tmp_path: Path) -> None:
    other = reproduction(tmp_path, fault(occurrence=4), group="a full disk", unlike=3)
    found = replace(sample(tmp_path), alternatives=(other,), first_found=other)
    page = page_of(found)

    assert re.findall("<h[23]>(.*?)</h", page) == [
        "What failed",
        "Where",
        "When",
        "Why it is believed",
        "How the log follows from it",
        "The failure log, and the log of the run that reproduced it",
        "Other causes with the same symptom, whose logs are less alike",
        "a full disk",
        "What was simplified",
        "What to do next",
    ]
    text = Reader(page).text
    assert "▸    11              file.write(" in text
    assert "the 3rd time it gets there, in MainThread of the workload's own process" in text
    assert "about line 3 of 9" in text
    assert "≈ The symptom is reproduced  2 of 2 repeats show it" in text
    assert "– lacks line 9 compacted+ adds line 9 not compacted" in text
    assert "causal chain of 4 steps, every step ran" in text
    assert "causal chain of 5 steps, 2 of 5 steps inferred" in text
    assert "inferred: this runs: self.broken = True" in text
    assert "python replay/replay.py\npytest replay/test_reproduction.py" in text


def test_what_explains_as_much_stands_before_all_else(tmp_path: Path) -> None:
    best, equal = (faithful(tmp_path, fault(occurrence=number)) for number in (3, 4))
    text = Reader(page_of(result(best, equal))).text

    assert "✓ The log is reproduced" in text
    assert text.index("Either of these two explains the log as well") < text.index("What failed")
    assert "less alike" not in text


def test_what_no_repeat_shows_is_not_reproduced(tmp_path: Path) -> None:
    text = Reader(page_of(result(faithful(tmp_path, repeated=0)))).text

    assert "? Not reproduced" in text
    assert "no repeat does: for all that is known, a coincidence" in text
    assert "What was seen once" in text
    assert "What failed" not in text


def test_messages_are_marked_in_both_logs(tmp_path: Path) -> None:
    page = page_of(sample(tmp_path))

    marked = re.findall(r'<td class="(mark[ a-z]*)"><b>(?:<a [^>]*>)?(\d+)<', page)
    assert marked == [("mark", line) for line in "337788"] + [("mark lacking", "9")]
    assert page.index("⚡ about here") < page.index('<tr id="log-3"')


def test_a_message_of_the_log_and_its_chain_in_the_graph_are_bound_together_without_a_script(tmp_path: Path) -> None:
    page = page_of(sample(tmp_path))

    assert '<tr id="log-7" class="chained m1">' in page
    assert '<a href="#log-7" title="how it follows from the fault">7</a>' in page  # the message in the log
    assert '<a class="to-chain" href="#message-1">' in page  # where the graph is above the log
    assert '<li id="message-1" class="chained shown m1">' in page
    assert re.search(r'<li class="step chained message inferred m1 m2">.*?<a href="#log-7">7</a>', page)
    assert ".beside:has(.m1:is(:hover,:focus-within,:target)) .m1{" in page


def test_every_table_has_a_caption_and_every_part_is_in_the_main_landmark(tmp_path: Path) -> None:
    page = page_of(sample(tmp_path))

    assert page.count("<table") == page.count("<caption") > 0
    assert page.index("<main>") < page.index("<h1>")
    assert '<div class="log-bar" role="img" aria-label="The failure log' in page


def test_nothing_comes_from_elsewhere_and_nothing_runs(tmp_path: Path) -> None:
    page = page_of(sample(tmp_path))
    read = Reader(page)

    assert not {"script", "link", "img", "iframe", "object"} & set(read.tags)
    assert "src" not in read.attributes
    assert all(each.startswith("#") for each in re.findall('href="(.*?)"', page))
    assert not re.search(r"url\(|@import", page)


def test_what_is_hostile_in_logs_source_and_names_is_shown_as_text(tmp_path: Path) -> None:
    hostile = "</pre></title></style><script>alert('\"&`1`')</script>\x00\u202e\x1b[31m" + "x" * 10_000
    path = tmp_path / "diskqueue.py"
    path.write_text(f"# {hostile[:60]}\n" * 20)
    (tmp_path / "run.log").write_text(RUN_LOG + hostile)
    site = replace(fault().site, path=str(path), expression=hostile, function=hostile, module=hostile)
    best = reproduction(
        tmp_path,
        fault(site=site, effect=hostile, thread=hostile, why=hostile, stack=(hostile,)),
        reason=hostile,
        group=hostile,
        messages=tuple(replace(each, text=hostile, chain=each.chain) for each in MESSAGES),
    )
    for found in (result(best, best), result(None)):
        asked = replace(found, case=replace(found.case, sources=(hostile,)))
        page = page_of(asked, FAILURE_LOG + hostile)
        read = Reader(page)
        assert "script" not in read.tags
        assert "<script>alert(" in read.text
        assert not {"\x00", "\u202e", "\x1b"} & set(page)


@given(st.text(), st.text())
def test_any_log_and_any_message_give_a_page(log: str, message: str) -> None:
    best = reproduction(Path("/nowhere"), messages=(replace(MESSAGES[0], text=message),), reason=message)
    page = page_of(result(best), log)

    Reader(page)
    page.encode()


def test_huge_logs_are_bounded_and_what_is_of_interest_stays(tmp_path: Path) -> None:
    line = "2026-11-16 03:00:00,001 INFO [MainThread] diskqueue: working" + " and working" * 5 + "\n"
    log = line * 30_000 + FAILURE_LOG + "x" * 1_000_000
    (tmp_path / "run.log").write_text(line * 30_000 + RUN_LOG)
    messages = tuple(replace(message, line=30_000 + message.line) for message in MESSAGES)
    page = page_of(result(reproduction(tmp_path, fault(log_lines=30_002), messages=messages)), log)

    assert len(page) < 4_500_000
    assert page.count("<tr") < 2 * MOST_ROWS + 20
    assert "lines in the middle of the failure log are left out" in page
    assert "are left out</summary>" in page
    assert '<tr id="log-30003" class="chained m0"><td class="mark">' in page
    Reader(page)


def test_a_log_or_source_that_is_gone_is_told(tmp_path: Path) -> None:
    page = page_of(result(reproduction(tmp_path, fault(failure_line=None))))

    assert "Its source is not here to be shown." in page
    assert "The log of the run is no longer in" in page
    assert "in the failure log, the place is not known" in page


def test_a_search_that_found_nothing_says_so(tmp_path: Path) -> None:
    text = Reader(page_of(result(None))).text

    assert "No fault was found that shows the symptom" in text
    assert "12 rounds tried 11 faults at 5 sites" in text
    assert "--source named diskqueue" in text


@pytest.mark.parametrize("frames", [3, 900])
def test_a_deep_stack_keeps_its_innermost_frames(tmp_path: Path, frames: int) -> None:
    stack = tuple(f"deep.py:{number} in f" for number in range(1, frames + 1))
    page = page_of(result(reproduction(tmp_path, fault(stack=stack))))

    assert f"deep.py:{frames} in f" in page
    assert ("outer frames" in page) == (frames > 40)

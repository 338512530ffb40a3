import io

import pytest

from cutset.app.ingest import SourcesFound
from cutset.cli.ingest_progress import IngestProgress, IngestStanding
from cutset.cli.output import Console
from cutset.errors import InputError
from cutset.survey.ingest import SourceRead, SpansRead
from cutset.traces.tally import ReadTally


def standing(*events: SourcesFound | SpansRead | SourceRead) -> IngestStanding:
    made = IngestStanding()
    for event in events:
        made.learn(event)
    return made


def test_sources_that_are_read_at_once_are_added_up() -> None:
    both = standing(SourcesFound(2, 1000), SpansRead(10, "a", 100), SpansRead(5, "b", 50), SpansRead(20, "a", 200))
    assert both.line(5.0) == "25% · 0 of 2 sources · 25 spans, 5 a second · 15 s left"


def test_the_time_left_is_told_by_what_was_read_meanwhile() -> None:
    resumed = standing(SourcesFound(2, 1000), SpansRead(0, "a", 600))  # read by an ingest before
    assert resumed.line(1.0) == "60% · 0 of 2 sources · 1 s left"  # nobody knows that yet
    resumed.line(1.0)
    resumed.learn(SpansRead(70, "a", 700))
    assert resumed.line(11.0) == "70% · 0 of 2 sources · 70 spans, 6 a second · 30 s left"
    resumed.learn(SourceRead("a", ReadTally(70), None, 800))
    assert resumed.line(21.0) == "80% · 1 of 2 sources · 70 spans, 3 a second · 20 s left"


@pytest.mark.parametrize(("total", "words"), [(10_000, "2 min left"), (1_000_000, "2.8 h left")])
def test_long_times_are_in_minutes_and_hours(total: int, words: str) -> None:
    one = standing(SourcesFound(2, total), SpansRead(1, "a", 0))
    one.line(0.0)
    one.learn(SpansRead(2, "a", 1000))
    assert one.line(10.0).endswith(words)


def test_of_a_pipe_nobody_knows_how_much_there_is() -> None:
    assert standing(SourcesFound(1), SpansRead(10, "-")).line(2.0) == "0 of 1 source · 10 spans, 5 a second"


def test_after_the_last_source_its_spans_are_sorted_in() -> None:
    last = standing(SourcesFound(1, 10), SourceRead("a", ReadTally(3), None, 10))
    assert last.line(1.0) == "1 source read, sorting 3 spans in"


def test_problems_are_told_as_they_are_met() -> None:
    said = io.StringIO()
    progress = IngestProgress(Console(file=said, width=200))
    torn = SourceRead("b", ReadTally(3), InputError("b ends in the middle of [a] span"), 5)
    for event in (SourcesFound(3, 10), SourceRead("a", ReadTally(), InputError("a is no trace"), 5), torn):
        progress.tell(event)
    assert said.getvalue() == "refused: a is no trace\nnot read to its end: b ends in the middle of [a] span\n"


def test_what_the_command_fails_with_is_not_told_twice() -> None:
    said = io.StringIO()
    progress = IngestProgress(Console(file=said, width=200))
    for event in (SourcesFound(1, 10), SourceRead("a", ReadTally(), InputError("a is no trace"), 10)):
        progress.tell(event)
    assert said.getvalue() == ""

from pathlib import Path
from threading import Event

import pytest
from tests.samples.otlp_shop import LINES, SPANS

from cutset.app.follow import follow_traces
from cutset.errors import UsageError
from cutset.model.steps import finished
from cutset.survey.follow import FollowSettings


def test_says_what_it_came_to(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join([*LINES, "{nonsense", ""]))
    ingested = finished(
        follow_traces(
            tmp_path / "store", [str(tmp_path / "spans.jsonl")], Event(), FollowSettings(until_caught_up=True)
        )
    )
    assert (ingested.sources, ingested.spans_read, ingested.spans_new) == (1, SPANS, SPANS)
    assert [unread.times for unread in ingested.skipped] == [1]


def test_a_file_that_cannot_be_followed_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("traceId,spanId\n")
    found = finished(follow_traces(tmp_path / "store", [str(tmp_path)], Event(), FollowSettings(until_caught_up=True)))
    assert [problem.partition(": ")[0] for problem in found.problems] == ["file that cannot be followed"]


@pytest.mark.parametrize("source", ["-", "", "jaeger+http://localhost:16686", "not/there/traces.json"])
def test_what_cannot_be_followed_is_refused_at_once(tmp_path: Path, source: str) -> None:
    with pytest.raises(UsageError):
        finished(follow_traces(tmp_path, [source], Event()))

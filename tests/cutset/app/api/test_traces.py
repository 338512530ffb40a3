from pathlib import Path

import pytest

from cutset.app.api.traces import ingest, survey_store
from cutset.errors import UsageError

ZIPKIN = """[
  {"traceId": "1", "id": "a", "kind": "SERVER", "name": "get /", "timestamp": 1700000000000000, "duration": 9,
   "localEndpoint": {"serviceName": "web"}, "tags": {"http.method": "GET", "http.path": "/"}},
  {"traceId": "1", "id": "b", "parentId": "a", "kind": "SERVER", "name": "get /items", "timestamp": 1700000000000001,
   "duration": 5, "localEndpoint": {"serviceName": "cart"}, "tags": {"http.method": "GET", "http.path": "/items"}}
]"""


def test_traces_are_read_and_surveyed(tmp_path: Path) -> None:
    (tmp_path / "zipkin.json").write_text(ZIPKIN)

    read = ingest([str(tmp_path / "zipkin.json")], store=tmp_path / "store")
    survey = survey_store(tmp_path / "store")

    assert (read.spans_read, read.spans_new) == (2, 2)
    assert survey.traces == 1
    assert list(survey.classes) == ["GET /"]


def test_without_traces_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no traces"):
        survey_store(tmp_path)

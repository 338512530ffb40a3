"""What comes before a cluster is asked, and after; the rest is in tests/istio."""

import asyncio
from pathlib import Path

import pytest
from tests.samples.har_shop import VISIT, write_har
from tests.samples.otlp_shop import LINES

from cutset.app.ingest import ingest_traces
from cutset.app.init import (
    TRACES,
    entry_beside,
    propose_config,
    propose_first,
    refuse_existing,
    sources_beside,
    write_config,
)
from cutset.config.first_file import LocalEntry
from cutset.errors import UsageError
from cutset.model.steps import finished


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    refuse_existing(tmp_path / "cutset.yaml")
    (tmp_path / "cutset.yaml").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        refuse_existing(tmp_path / "cutset.yaml")


def test_without_a_kubeconfig_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no usable kubeconfig"):
        asyncio.run(propose_config(["shop"]))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    text = "istio: {namespaces: [shop], gateway: a/b}\nrequests: [{path: /}]\n"
    assert write_config(tmp_path / "cutset.yaml", text).target.environment == "shop"


MESH = """
entry: web
services:
  web: {protocol: http, port: 9080, replicas: [127.0.0.1:5001]}
"""


def test_what_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    out = tmp_path / "cutset.yaml"
    with pytest.raises(UsageError, match="unknown key"):
        write_config(out, "requests: [{pth: /}]\n")
    with pytest.raises(UsageError, match="Cannot write"):
        write_config(tmp_path / "none" / "cutset.yaml", "requests: [{path: /}]\n")
    assert list(tmp_path.iterdir()) == []


def test_a_mesh_beside_the_file_is_where_experiments_enter(tmp_path: Path) -> None:
    assert entry_beside(tmp_path) is None
    (tmp_path / "mesh.yaml").write_text(MESH)
    assert entry_beside(tmp_path) == LocalEntry("http://127.0.0.1:9080", why="the mesh's own address of web")
    (tmp_path / "mesh.yaml").write_text(MESH.replace("port: 9080, ", ""))
    with pytest.raises(UsageError, match="Nobody knows yet on which port") as caught:
        entry_beside(tmp_path)
    assert "cutset mesh up" in caught.value.hint


def test_sources_are_found_where_they_usually_are(tmp_path: Path) -> None:
    assert sources_beside(tmp_path, tmp_path / "store") == []
    (tmp_path / "openapi.json").touch()
    (tmp_path / "visit.har").touch()
    (tmp_path / "recording").mkdir()
    assert sources_beside(tmp_path, tmp_path / "store") == ["recording", "visit.har", "openapi.json"]


def test_a_file_from_each_source_is_read_again(tmp_path: Path) -> None:
    write_har(tmp_path / "visit.har", VISIT)
    (tmp_path / "openapi.yaml").write_text("openapi: 3.0.0\npaths: {/items: {get: {}, post: {}}}\n")
    (tmp_path / "config").mkdir()
    out = tmp_path / "config" / "cutset.yaml"
    names = {}
    for source in ("visit.har", "openapi.yaml"):
        first = propose_first(LocalEntry("http://a.test"), str(tmp_path / source), out=out, store=tmp_path)
        names[source] = len(first.requests), [each.name for each in write_config(out, first.text).requests]
    assert names == {
        "visit.har": (5, ["GET /", "GET /news", "POST /orders", "GET /orders/*"]),
        "openapi.yaml": (2, ["GET /items"]),
    }
    assert str(out.parent) not in out.read_text()


def test_stored_traces_are_a_source(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES) + "\n")
    finished(ingest_traces(tmp_path, [str(tmp_path / "spans.jsonl")]))
    first = propose_first(LocalEntry("http://a.test"), TRACES, out=tmp_path / "cutset.yaml", store=tmp_path)
    assert first.requests
    assert write_config(tmp_path / "cutset.yaml", first.text).requests
    assert sources_beside(tmp_path, tmp_path) == [TRACES]

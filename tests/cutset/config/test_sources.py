from pathlib import Path

import pytest
from tests.samples.har_shop import VISIT, write_har

from cutset.config.explore import load_config
from cutset.config.sources import requests_from
from cutset.errors import UsageError
from cutset.model.request import Expectation

OPENAPI = "openapi: 3.0.0\npaths: {/items: {get: {}, post: {}}, /news: {get: {}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "openapi.yaml").write_text(OPENAPI)
    write_har(tmp_path / "visit.har", VISIT)
    return tmp_path


def load(folder: Path, requests: str) -> list[str]:
    (folder / "cutset.yaml").write_text(f"target: {{url: 'http://a.test'}}\nrequests: {requests}\n")
    return [request.name for request in load_config(folder / "cutset.yaml").requests]


def test_a_source_stands_for_its_requests_and_what_writes_must_be_named(folder):
    assert load(folder, "[{path: /}, {source: openapi.yaml}]") == ["GET /", "GET /items", "GET /news"]
    assert load(folder, "[{source: openapi.yaml, only: [POST /items]}]") == ["POST /items"]
    assert load(folder, "[{source: visit.har, only: ['GET /orders/*', GET /news]}]") == ["GET /orders/*", "GET /news"]


def test_what_is_expected_holds_for_all_of_them(folder):
    load(folder, "[{source: openapi.yaml, expect: {max_seconds: 2}}]")
    assert {each.expect for each in load_config(folder / "cutset.yaml").requests} == {Expectation(max_seconds=2.0)}


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ("[{source: openapi.yaml, only: [GET /itms]}]", "openapi.yaml` has no request `GET /itms`"),
        ("[{source: none.har}]", "There is no source of requests `"),
        ("[{source: openapi.yaml}, {path: /news}]", "`requests`: two are called `GET /news`"),
        ("[{source: openapi.yaml, name: x}]", "has `source`, whose requests have names and steps of their own"),
        ("[{path: /, only: [x]}]", "has `only`, which a step with `path` cannot have"),
        ("[{path: /, setup: [{source: openapi.yaml}]}]", "has `source`, but a step is one request"),
    ],
)
def test_what_is_wrong_with_it_is_told(folder, requests, message):
    with pytest.raises(UsageError) as caught:
        load(folder, requests)
    assert message in caught.value.message


def test_a_source_of_nothing_but_writes_says_so(folder):
    (folder / "openapi.yaml").write_text("openapi: 3.0.0\npaths: {/items: {post: {}}}\n")
    with pytest.raises(UsageError, match="are held back: it writes"):
        requests_from(folder / "openapi.yaml")

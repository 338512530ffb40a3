import re
from pathlib import Path

import pytest

from cutset.config.explore import load_config
from cutset.config.first_file import LocalEntry, entry_by, entry_service, first_text, traced_requests
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Request, Step
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.model.target import Receiver, Target
from cutset.workload.sources.proposal import ProposedRequest

ENTRY = LocalEntry("http://127.0.0.1:9080", "staging", "127.0.0.1:5317", "the mesh's own address of web")
WEB, CART, API = (
    MeshService("web", "http", ("a:1",)),
    MeshService("cart", "grpc", ("a:2",)),
    MeshService("api-x", "http", ("a:3",)),
)


def request(name: str, **notes: str) -> ProposedRequest:
    method, path = name.split(" ")
    return ProposedRequest(Request(name, Step(method, path)), **notes)


def load(tmp_path: Path, text: str):
    (tmp_path / "cutset.yaml").write_text(text)
    return load_config(tmp_path / "cutset.yaml")


def test_the_file_is_read_as_it_was_meant(tmp_path):
    search = Step("POST", "/search?q=a", {"x-shop": "${SHOP}"}, json={"a": ["é", None]})
    requests = [
        request("GET /doubtful", doubt="guessed: id"),
        request("GET /logout"),
        ProposedRequest(Request("search", search), "Finds\n: things"),
        request("POST /orders", held_back="it writes"),
    ]
    text = first_text(ENTRY, requests, "openapi.yaml", as_source=False)

    config = load(tmp_path, text)
    assert config.target == Target("http://127.0.0.1:9080", "staging")
    assert config.collector == Receiver(grpc_port=5317)
    assert config.requests == (Request("search", search), Request("GET /doubtful", Step("GET", "/doubtful")))
    assert "  # Finds : things\n" in text
    assert '  # # it writes\n  # - path: "/orders"\n  #   method: POST\n' in text


def test_all_that_is_commented_out_can_be_taken_in(tmp_path):
    text = first_text(ENTRY, [request("POST /orders", held_back="it writes")], "x", as_source=False)
    taken_in = "\n".join(re.sub("^  # ", "  ", line) for line in text.splitlines() if "Others:" not in line)
    assert [each.name for each in load(tmp_path, taken_in).requests] == ["GET /", "POST /orders"]


def test_without_any_source_there_is_one_request(tmp_path):
    text = first_text(LocalEntry("http://a.test"), (), "", as_source=False)
    assert load(tmp_path, text).requests == (Request("GET /", Step("GET", "/")),)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (MeshSpec((CART, WEB), entry="cart"), "cart"),
        (MeshSpec((CART, WEB)), "web"),
        (MeshSpec((CART,)), "cart"),
        (MeshSpec((API, WEB)), "api-x"),
    ],
)
def test_the_service_that_users_call_is_the_entry_or_the_likeliest(spec, name):
    assert entry_service(spec) == name


def test_the_usual_collector_needs_no_mention_and_a_guess_is_called_one():
    entry = entry_by(MeshSpec((WEB,), collector="127.0.0.1:4317", environment="e"), 9)
    assert entry == LocalEntry(
        "http://127.0.0.1:9",
        "e",
        "",
        "the mesh's own address of web, which is a guess: `entry` in mesh.yaml says what users call",
    )
    assert entry_by(MeshSpec((WEB,), entry="web", collector="127.0.0.1:1"), 9).collector == "127.0.0.1:1"


def test_classes_of_traces_are_requests_if_they_have_a_whole_path():
    scores = {"GET /": 1.0, "GET /product/{id}": 3.0, "POST /cart": 2.0, "shop.Cart/Get": 9.0}
    classes = {name: ClassSummary(name, "web", Representative(score, "t")) for name, score in scores.items()}
    found = traced_requests(Survey(classes=classes))
    assert [(each.request.name, each.held_back) for each in found] == [
        ("GET /product/{id}", "put a value into its path"),
        ("POST /cart", "it writes"),
        ("GET /", ""),
    ]

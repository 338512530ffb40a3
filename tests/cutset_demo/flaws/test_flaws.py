"""The answer key, held against the services: complete, and both variants alike as long as nothing fails."""

import importlib.resources
import json
import signal
import uuid

import pytest
import yaml

from cutset_demo.flaws.__main__ import NAMES

SYMPTOMS = {"no-recovery", "silent-loss", "duplicate", "not-survived", "amplification", "wrong-data", "hang"}
KEY = yaml.safe_load(importlib.resources.files("cutset_demo.flaws").joinpath("FLAWS.yaml").read_text())["flaws"]
FLAWS = {flaw["name"]: flaw for flaw in KEY}


def run_flow(client, name):
    """Status and body of each request, with the flow's unique word taken out."""
    unique, answers = f"test-{uuid.uuid4()}", []
    for request in FLAWS[name]["requests"]:
        filled = json.loads(json.dumps(request).replace("{unique}", unique))
        response = client.request(filled["method"], filled["path"], json=filled.get("json"))
        assert response.status_code == request["status"], response.text
        answers.append((response.status_code, response.text.replace(unique, "{unique}")))
    return answers


def test_the_key_speaks_of_every_service():
    assert tuple(FLAWS) == NAMES
    assert len(KEY) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_key_says_where_the_bug_shows_and_how(name):
    flaw = FLAWS[name]
    assert flaw["what"]
    assert flaw["incident"]
    assert set(flaw["needs"]) <= {"redis", "postgres", "nats"}
    assert flaw["symptoms"]
    assert set(flaw["symptoms"]) <= SYMPTOMS
    for place in flaw["exposed_by"]:
        assert place["endpoint"].split("/")[0] in ("cache", "db", "mq", "rpc")
        assert place["faults"]
        assert place.get("occurrence", 1) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hung-worker"])
def test_both_variants_are_alike_as_long_as_nothing_fails(name, start):
    clients = start(name, "broken"), start(name, "correct")
    for _ in range(3):
        broken, correct = (run_flow(client, name) for client in clients)
        assert broken == correct
    for client in clients:
        assert client.get("/health").status_code == 200
        assert client.get("/elsewhere").status_code == 404


def test_both_variants_with_workers_are_alike_as_long_as_nothing_fails(start_alone):
    clients = [start_alone("hung-worker", variant)[1] for variant in ("broken", "correct")]
    for _ in range(3):
        broken, correct = (run_flow(client, "hung-worker") for client in clients)
        assert broken == correct
    for client in clients:
        assert client.get("/health").status_code == 200
        assert client.get("/elsewhere").status_code == 404


@pytest.mark.parametrize("name", ["hung-worker", "swallowed-publish"])
def test_a_service_ends_when_it_is_told_to(name, start_alone):
    process, client = start_alone(name, "correct")
    run_flow(client, name)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) in (0, -signal.SIGTERM)

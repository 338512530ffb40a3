import json

from typer.testing import CliRunner, Result

from cutset.cli.main import app
from cutset.errors import UsageError


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_faults_are_listed_with_their_libraries() -> None:
    (line,) = [line for line in invoke("faults").output.splitlines() if line.startswith("lost-answer ")]
    assert "redis" in line


def test_the_list_is_there_as_json() -> None:
    faults = {fault["name"]: fault for fault in json.loads(invoke("faults", "--json").output)["faults"]}
    assert faults["timeout"]["needs_timeout"] is True
    assert "redis" in faults["cache-miss"]["frameworks"]


def test_a_fault_is_explained() -> None:
    output = invoke("explain", "lost-answer").output
    for part in ("The operation is really done", "Stands for", "A resilient caller", "idempotency key", "Where"):
        assert part in output


def test_a_misspelt_fault_is_recognised() -> None:
    result = invoke("explain", "lost-anwser")
    assert isinstance(result.exception, UsageError)
    assert result.exception.hint == "Did you mean `lost-answer`?"


def test_a_remedy_is_explained_also_where_a_fault_has_the_same_name() -> None:
    output = invoke("explain", "timeout").output
    assert "A resilient caller" in output
    assert "The remedy timeout" in output
    assert "timeout_seconds: 0.5" in output
    assert "retry_budget_percent: 20" in invoke("explain", "retry").output


def test_faults_that_may_reach_others_are_marked() -> None:
    listed = {line.split()[0]: line for line in invoke("faults").output.splitlines() if line.strip()}
    assert "nats*" in listed["connection-lost"]
    assert "redis*" not in listed["connection-lost"]
    assert "*" not in listed["connection-reset"]
    faults = {fault["name"]: fault for fault in json.loads(invoke("faults", "--json").output)["faults"]}
    assert (faults["connection-lost"]["contained"], faults["connection-reset"]["contained"]) == (False, True)
    assert faults["connection-lost"]["reaches"]["nats"] == "the connection is that of all who use this client"
    assert "nats: the connection is that of all" in invoke("explain", "connection-lost").output
    assert "Yes: it reaches the request" in invoke("explain", "connection-reset").output

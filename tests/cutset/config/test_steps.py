from pathlib import Path
from textwrap import dedent

import pytest

from cutset.config.explore import load_config
from cutset.config.steps import files_named
from cutset.errors import UsageError
from cutset.model.request import Request, Step, WorkloadStep


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    (tmp_path / "flows.py").write_text("def checkout(call): return None\n")

    def load_requests(text: str) -> tuple[Request, ...]:
        Path("cutset.yaml").write_text("target: {url: 'http://a.test'}\nrequests:\n" + dedent(text))
        return load_config(Path("cutset.yaml")).requests

    return load_requests


def test_a_request_may_be_a_function_or_a_command(load):
    function, command = load("- workload: flows.py:checkout\n- command: [./buy.sh, '{session}']\n")

    assert (function.name, command.name) == ("checkout", "buy.sh")
    assert isinstance(function.step, WorkloadStep)
    assert isinstance(command.step, WorkloadStep)
    assert (function.step.name, command.step.name) == ("flows.py:checkout", "./buy.sh")
    assert command != load("- command: [./buy.sh, other]\n")[0]


def test_set_up_steps_take_values_from_their_answers(load):
    (request,) = load("""
        - path: /orders/{order}
          setup:
            - {path: /orders, method: POST, take: {order: json.order.id, token: header.x-token}}
            - {command: [./seed.sh], take: {seed: "regex ([0-9]+)"}}
    """)
    first, second = request.setup
    assert first == Step("POST", "/orders", take={"order": "json.order.id", "token": "header.x-token"})
    assert second.take == {"seed": "regex ([0-9]+)"}


def test_a_request_may_be_a_grpc_call(load):
    Path("shop.protoset").write_bytes(b"1")
    text = "- {grpc: shop.CartService/GetCart, descriptor: shop.protoset, message: {user: '{session}', key: ab-cd}}\n"
    (request,) = load(text)
    assert (request.name, request.step.name) == ("CartService/GetCart", "shop.CartService/GetCart")
    assert request.step.texts == ("{session}", "ab-cd")

    Path("shop.protoset").write_bytes(b"2")
    assert load(text)[0].step != request.step


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- {name: x}",
            "needs one of `path`, `workload`, `command`, `source`, `websocket`, `grpc`: it says what is sent",
        ),
        ("- {path: /, command: [x]}", "`requests[0]`: has `path` and `command`, but a step is one of them"),
        ("- {command: [x], body: y}", "`requests[0]`: has `body`, which a step with `command` cannot have"),
        ("- {path: /, json: 1, body: y}", "`requests[0]`: has `body` and `json`, but a request has one body"),
        (
            "- {command: []}",
            "`requests[0].command`: expected a program and its arguments, as a list, found an empty list",
        ),
        (
            "- {workload: flows}",
            '`requests[0].workload`: expected `file.py:function`, or `module:function`, found "flows"',
        ),
        (
            "- {path: /, setup: [{path: /, take: {session: json.a}}]}",
            "take.session`: expected a name of letters, digits and _ other than `session`",
        ),
        ("- {grpc: GetCart}", "expected a gRPC method as `package.Service/Method`, found"),
        ("- {grpc: a.B/C, descriptor: none.protoset}", "`a.B/C`: there is no descriptor set `"),
        (
            "- {path: /, setup: [{path: /, take: {a: body}}]}",
            'expected `json.order.id`, `header.x-token`, `cookie.sid`, or `regex` and an expression, found "body"',
        ),
    ],
)
def test_what_is_no_step_is_told(load, text, message):
    with pytest.raises(UsageError) as caught:
        load(text + "\n")
    assert message in caught.value.message


def test_keys_that_name_other_files_are_known():
    requests = [{"path": "/", "setup": [{"command": ["x"]}], "expect": {"function": "a.py:b"}}, {"source": "x.har"}]
    assert files_named({"requests": requests, "drill": {"command": ["x"]}}) == {"command", "function", "source"}
    assert files_named({"requests": [{"path": "/", "json": {"source": 1}}]}) == set()

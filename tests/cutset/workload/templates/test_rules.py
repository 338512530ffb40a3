from pathlib import Path

import pytest

from cutset.errors import InputError
from cutset.workload.templates.rules import Rule, find_rule, read_rules, rules_for


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "variables.yaml"
    path.write_text(text)
    return path


def test_variables_are_registered_and_deregistered(tmp_path: Path) -> None:
    text = """
register:
  - {request: POST /signup, place: body/name}
  - {request: POST /login, place: body/password, as: value, from: SHOP_PASSWORD}
  - {request: GET /me, place: header/x-user, as: chained, from: POST /login body/user/id}
deregister:
  - {request: "*", place: body/reference}
"""
    rules = read_rules(rules_file(tmp_path, text))
    assert rules == (
        Rule("POST /signup", "body/name", "fresh"),
        Rule("POST /login", "body/password", "value", "SHOP_PASSWORD"),
        Rule("GET /me", "header/x-user", "chained", "POST /login body/user/id"),
        Rule("*", "body/reference", "constant"),
    )
    assert find_rule(rules, "PUT /anything", "body/reference") == rules[3]
    assert find_rule(rules, "PUT /anything", "body/name") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "expected the lists `register` and `deregister`"),
        ("register: 1", "register: expected a list, found `1`"),
        ("register: [{place: a}]", "register, entry 1: expected as, from, place, request"),
        ("register: [{request: a, place: b, as: magic}]", "found `magic`"),
        ("register: [{request: a, place: b, as: value}]", "`as: value` needs `from`"),
        ("register: [{request: a, place: b, as: chained, from: x}]", "as in `POST /login body/token`, found `x`"),
        ("deregister: [{request: a, place: b, as: time}]", "deregister, entry 1: expected place, request"),
        ("{", "is not YAML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_rules(rules_file(tmp_path, text))
    assert message in caught.value.message


def test_an_empty_file_has_no_rules(tmp_path: Path) -> None:
    assert read_rules(rules_file(tmp_path, "")) == ()


def test_the_rules_of_a_recording_lie_beside_it_unless_others_are_named(tmp_path: Path) -> None:
    empty, folder = tmp_path / "empty", tmp_path / "recording"
    for each in (empty, folder):
        each.mkdir()
    (folder / "variables.yaml").write_text("deregister: [{request: '*', place: body/reference}]\n")

    assert rules_for(empty) == ()
    assert rules_for(folder) == rules_for(empty, folder / "variables.yaml") != ()

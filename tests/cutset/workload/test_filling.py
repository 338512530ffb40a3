import pytest

from cutset.errors import UsageError
from cutset.workload.filling import fill, fill_json, variables_in

VALUES = {"session": "s1", "order": "42"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("/orders/{order}?by={session}", "/orders/42?by=s1"),
        ('{"a": {"b": 1}, "c": {unknown}}', '{"a": {"b": 1}, "c": {unknown}}'),
        ("{order}{order}", "4242"),
        ("Bearer ${SHOP_TOKEN}", "Bearer t-{order}"),  # what a variable holds is not looked into
        ("${session}", "$s1"),
    ],
)
def test_known_names_and_variables_are_filled_in_and_other_braces_stay(text, filled, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "t-{order}")
    assert fill(text, VALUES) == filled


def test_values_are_filled_in_anywhere_in_json():
    assert fill_json({"{order}": [1, "{session}", None]}, VALUES) == {"42": [1, "s1", None]}


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    with pytest.raises(UsageError, match="needs the environment variable `SHOP_TOKEN`") as caught:
        fill("${SHOP_TOKEN}", {})
    assert caught.value.hint == "Set it where you start Cutset: `export SHOP_TOKEN=…`"


def test_what_variables_hold_is_known_as_far_as_they_are_set(monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "secret")
    monkeypatch.delenv("SHOP_OTHER", raising=False)
    assert variables_in("${SHOP_TOKEN} ${SHOP_OTHER} {session}") == ["secret"]

import json

import pytest

from cutset.traces.masking import masked_address, masked_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://h:1/pay?token=x#f", "http://h:1/pay?…"),
        ("https://me:secret@h/pay", "https://h/pay"),
        ("postgres://me:secret@h/db?password=x", "postgres://h/db?…"),
        ("/pay?token=x", "/pay?…"),
        ("/pay", "/pay"),
        ("why? because", "why? because"),
        ("SELECT * FROM t WHERE a = ?", "SELECT * FROM t WHERE a = ?"),
        ("me@example.com", "me@example.com"),
    ],
)
def test_addresses_are_kept_without_query_and_user(text: str, shown: str) -> None:
    assert masked_address(text) == shown


def attribute(key: str, value: object) -> dict[str, object]:
    return {"key": key, "value": value}


def test_attributes_are_masked_wherever_they_are_and_the_rest_stays() -> None:
    array = {"arrayValue": {"values": [{"stringValue": "Bearer x"}]}}
    span = {
        "name": "GET",
        "attributes": [
            attribute("http.request.header.authorization", array),
            attribute("rpc.grpc.request.metadata.x-session-id", array),
            attribute("http.request.header.user_agent", array),
            attribute("url.query", {"stringValue": "token=x"}),
            attribute("http.url", {"stringValue": "http://h/a?b=c"}),
            attribute("n", {"intValue": "1"}),
        ],
        "events": [{"name": "e", "attributes": [attribute("http.target", {"stringValue": "/a?b"})]}],
    }
    masked = json.loads(masked_line(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})))
    found = masked["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    values = {each["key"]: each["value"] for each in found["attributes"]}
    hidden = {"stringValue": "…"}
    assert values["http.request.header.authorization"] == values["url.query"] == hidden
    assert values["rpc.grpc.request.metadata.x-session-id"] == hidden
    assert values["http.request.header.user_agent"] == array
    assert (values["http.url"], values["n"]) == ({"stringValue": "http://h/a?…"}, {"intValue": "1"})
    assert found["events"][0]["attributes"][0]["value"] == {"stringValue": "/a?…"}


def test_what_has_nothing_to_hide_is_not_written_anew() -> None:
    line = '{ "resourceSpans" : [] }'
    assert masked_line(line) is line

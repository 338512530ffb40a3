import base64
import copy
import json
from pathlib import Path

import pytest

from cutset.errors import InputError
from cutset.workload.recording.har import read_har

ENTRY: dict = {
    "startedDateTime": "2026-11-16T06:33:15.250Z",
    "time": 12.5,
    "request": {
        "method": "post",
        "url": "https://shop.example/orders?draft=1",
        "headers": [
            {"name": ":authority", "value": "shop.example"},
            {"name": "Content-Type", "value": "application/json"},
            {"name": "traceparent", "value": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"},
        ],
        "postData": {"mimeType": "application/json", "text": '{"sku":"ä"}'},
    },
    "response": {
        "status": 201,
        "headers": [{"name": "content-encoding", "value": "br"}, {"name": "set-cookie", "value": "a=1\nb=2; Path=/"}],
        "content": {"text": base64.b64encode(b"\x00ok").decode(), "encoding": "base64"},
    },
}


def har(folder: Path, *entries: object) -> Path:
    path = folder / "log.har"
    path.write_text("\ufeff" + json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


def changed(*keys: str, to: object) -> dict:
    entry = copy.deepcopy(ENTRY)
    inner = entry
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    return entry


def test_an_entry_becomes_an_exchange(tmp_path: Path) -> None:
    (exchange,) = read_har(har(tmp_path, ENTRY)).exchanges
    assert (exchange.method, exchange.path, exchange.status) == ("POST", "/orders?draft=1", 201)
    assert (exchange.service, exchange.trace_id) == ("shop.example", "a" * 32)
    assert (exchange.started_at, exchange.seconds) == (1794810795.25, 0.0125)
    assert exchange.request_body == '{"sku":"ä"}'.encode()
    assert exchange.request_headers[0] == ("Content-Type", "application/json")
    assert exchange.response_body == b"\x00ok"
    assert exchange.response_headers == (("set-cookie", "a=1"), ("set-cookie", "b=2; Path=/"))


def test_reading_twice_gives_the_same_ids(tmp_path: Path) -> None:
    path = har(tmp_path, ENTRY, ENTRY)
    first, second = read_har(path).exchanges
    assert first.id != second.id
    assert read_har(path).exchanges == (first, second)


def test_other_hosts_and_requests_without_an_answer_are_left_out_and_counted(tmp_path: Path) -> None:
    cdn = changed("request", "url", to="https://cdn.example/app.js")
    blocked = changed("response", "status", to=0)
    found = read_har(har(tmp_path, ENTRY, cdn, cdn, blocked))
    assert (len(found.exchanges), found.elsewhere, found.unanswered) == (1, {"cdn.example": 2}, 1)
    assert len(read_har(har(tmp_path, ENTRY, cdn), host="cdn.example").exchanges) == 1


def test_a_form_without_its_text_is_written_anew(tmp_path: Path) -> None:
    posted = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "c&d"}]}
    (exchange,) = read_har(har(tmp_path, changed("request", "postData", to=posted))).exchanges
    assert exchange.request_body == b"a+b=c%26d"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed("startedDateTime", to="yesterday"), "log.entries[0].startedDateTime: expected an ISO 8601 time"),
        (changed("response", "status", to="ok"), "log.entries[0].response.status: expected a whole number, found `ok`"),
        (changed("request", "headers", to=[1]), "log.entries[0].request.headers: expected objects, found `1`"),
        (changed("response", "content", "text", to="!"), "content.text: expected base64"),
        (7, "log.entries[0]: expected an object, found `7`"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, entry: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_har(har(tmp_path, entry))
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("content", "message"), [("{", "is not JSON"), ("[]", "is no HAR file"), ("{}", ".log: expected an object")]
)
def test_other_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.har").write_text(content)
    with pytest.raises(InputError) as caught:
        read_har(tmp_path / "x.har")
    assert message in caught.value.message


def test_a_version_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.har"
    path.write_text(json.dumps({"log": {"version": "2.0", "entries": []}}))
    with pytest.raises(InputError, match=r"is of HAR 2.0; Cutset reads version 1"):
        read_har(path)

import gzip
import json
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.exchange import Exchange, Operation
from cutset.workload.recording.lines import exchange_to_line
from cutset.workload.recording.masking import field_masker, masker

JSON = (("content-type", "application/json"),)


def exchange(**changes: object) -> Exchange:
    fields: dict[str, object] = {"id": "e", "service": "s", "trace_id": "", "started_at": 1.0, "seconds": 0.0}
    fields |= {"method": "POST", "path": "/", "request_headers": JSON, "request_body": b"", "status": 200}
    return Exchange(**(fields | {"response_headers": JSON} | changes))  # type: ignore[arg-type]


def test_equal_secrets_stay_equal_wherever_they_are() -> None:
    mask = masker()
    login = mask(exchange(response_body=b'{"access_token": "opensesame-1"}'))
    use = mask(exchange(request_headers=(("Authorization", "Bearer opensesame-1"),)))
    reset = mask(exchange(path="/reset/opensesame-1?token=opensesame-1"))
    token = json.loads(login.response_body)["access_token"]
    assert token.startswith("masked-")
    assert use.request_headers == (("Authorization", f"Bearer {token}"),)
    assert reset.path == f"/reset/{token}?token={token}"


def test_each_recording_masks_in_its_own_way() -> None:
    secret = exchange(request_body=b'{"password": "opensesame"}')
    assert masker()(secret).request_body != masker()(secret).request_body


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "newPassword",
        "user_password",
        "accessToken",
        "api-key",
        "apiKey",
        "X-Auth-Token",
        "client_secret",
        "csrfmiddlewaretoken",
        "cvv",
        "cardNumber",
        "PIN",
        "sessionId",
    ],
)
def test_telling_names_are_secret(name: str) -> None:
    masked = masker()(exchange(request_body=json.dumps({"a": {name: "1234567"}}).encode()))
    assert json.loads(masked.request_body)["a"][name].startswith("masked-")


@pytest.mark.parametrize("name", ["max_tokens", "tokens", "pinned", "spinach", "author", "secretary", "keyboard"])
def test_other_names_are_not(name: str) -> None:
    given_exchange = exchange(request_body=json.dumps({name: "1234567"}).encode())
    assert masker()(given_exchange) == given_exchange


def test_cookies_are_masked_and_their_attributes_stay() -> None:
    masked = masker()(
        exchange(
            request_headers=(("Cookie", "sid=abcdefgh; lang=en"),),
            response_headers=(("Set-Cookie", "sid=abcdefgh; Path=/; HttpOnly"),),
        )
    )
    sid = masked.request_headers[0][1].split(";")[0]
    assert sid.startswith("sid=masked-")
    assert masked.response_headers == (("Set-Cookie", f"{sid}; Path=/; HttpOnly"),)


def test_what_is_secret_can_be_added_and_taken_away() -> None:
    mask = masker(also=["Nickname"], not_these=["TOKEN", "lang"])
    masked = mask(
        exchange(
            request_headers=(*JSON, ("Cookie", "lang=en")),
            request_body=b'{"nickname": "annie", "token": "not-so-secret"}',
        )
    )
    body = json.loads(masked.request_body)
    assert body["nickname"].startswith("masked-")
    assert body["token"] == "not-so-secret"
    assert masked.request_headers == (*JSON, ("Cookie", "lang=en"))


def test_a_card_in_a_field_that_is_kept_is_kept() -> None:
    form = exchange(
        request_headers=(("content-type", "application/x-www-form-urlencoded"),),
        request_body=b"credit_card_number=4432-8015-6152-0454&credit_card_expiration_year=2030",
    )
    assert masker(not_these=["credit_card_number"])(form) == form
    assert b"0454" not in masker()(form).request_body
    assert b"expiration_year=2030" in masker()(form).request_body


def test_payment_cards_are_masked_and_times_are_not() -> None:
    body = {"pan": "4111 1111 1111 1111", "number": 5500005555555559, "at": 1794810795123, "order": "4111111111111112"}
    masked = json.loads(masker()(exchange(request_body=json.dumps(body).encode())).request_body)
    assert masked["pan"].startswith("masked-")
    assert masked["number"].startswith("masked-")
    assert masked["at"] == 1794810795123
    assert masked["order"] == "4111111111111112"


def test_text_that_is_no_json_is_masked_too() -> None:
    operation = Operation(
        "db/psycopg/execute", 1, 1.0, 0.0, False, b"UPDATE users SET password = 'opensesame'", b'{"token":"opensesame"'
    )
    cut = masker()(
        exchange(response_body=b'{"token": "opensesame", "rest": "cut sho', truncated=True, operations=(operation,))
    )
    assert b"opensesame" not in exchange_to_line(cut)
    assert b"opensesame" not in cut.response_body + cut.operations[0].request + cut.operations[0].response
    assert cut.operations[0].request.startswith(b"UPDATE users SET password = 'masked-")


def test_a_secret_of_the_request_is_masked_in_its_operations() -> None:
    operation = Operation("cache/redis/set", 1, 1.0, 0.0, False, b"SET session:opensesame-1 ann")
    masked = masker()(exchange(request_headers=(("Authorization", "opensesame-1"),), operations=(operation,)))
    assert b"opensesame" not in masked.operations[0].request


def test_compressed_bodies_are_masked_and_unreadable_ones_are_not_kept() -> None:
    encoded = (*JSON, ("Content-Encoding", "gzip"), ("Set-Cookie", "sid=opensesame"))
    body = gzip.compress(b'{"token": "opensesame"}')
    plain = masker()(exchange(response_headers=encoded, response_body=body))
    torn = masker()(exchange(response_headers=encoded, response_body=body[:-2]))
    assert json.loads(plain.response_body)["token"].startswith("masked-")
    assert not plain.truncated
    assert torn.response_body == b""
    assert torn.truncated
    assert dict(torn.response_headers)["Set-Cookie"].startswith("sid=masked-")


@given(st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=8, max_size=20), st.booleans())
def test_no_secret_is_written(secret: str, in_form: bool) -> None:
    body = f"password={secret}" if in_form else json.dumps({"password": secret}, ensure_ascii=False)
    kind = "application/x-www-form-urlencoded" if in_form else "application/json"
    masked = masker()(
        exchange(
            request_headers=(("content-type", kind), ("x-api-key", secret)),
            request_body=body.encode(),
            response_body=json.dumps({"hello": secret}).encode(),
        )
    )
    everything = masked.request_body + masked.response_body + repr(masked.request_headers).encode()
    assert secret.encode() not in everything
    assert masker()(masked) == masked


def body_masked_as(content_type: str, body: str) -> str:
    headers = (("content-type", content_type),)
    masked = masker()(exchange(request_headers=headers, request_body=body.encode())).request_body
    assert masker()(exchange(request_headers=headers, request_body=masked)).request_body == masked
    return masked.decode()


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_a_secret_within_a_string_of_json_leaves_json(kind: str) -> None:
    query = 'mutation { login(user: "a", password: "GQLPW1 x") }'
    masked = json.loads(body_masked_as(kind, json.dumps({"query": query, "inner": json.dumps({"q": query})})))
    assert masked["query"].startswith('mutation { login(user: "a", password: "masked-')
    assert masked["query"].endswith('") }')
    assert json.loads(masked["inner"]) == {"q": masked["query"]}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("SET password = 'it''s me', name = 'ann'", "it''s me"),
        (r"log: {\"password\": \"PW one\", \"name\": \"ann\"}", "PW one"),
        ('password: "PW, one" name', "PW, one"),
        ("password=PWone; name", "PWone"),
        ("connect postgres://ann:PW%40one@db/shop", "PW%40one"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nxyz=\n-----END RSA PRIVATE KEY-----", "MIIEabc\nxyz="),
        ("-----BEGIN PRIVATE KEY-----\nMIIEabc\nxyz", "MIIEabc\nxyz"),
    ],
)
def test_only_the_secret_is_masked_in_text(text: str, secret: str) -> None:
    before, after = text.split(secret)
    for kind in ("text/plain", "application/octet-stream"):
        masked = body_masked_as(kind, text)
        assert masked.startswith(before + "masked-")
        assert masked.endswith(after)
    assert json.loads(body_masked_as("application/json", json.dumps([text])))[0].startswith(before + "masked-")


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE users SET password = $1, token = %s WHERE secret = ?",
        "mutation ($password: String!) { login(password: $password) { code } }",
        "https://example.com/?page=2&country_code=de&sort_key=name",
        "the password is required",
    ],
)
def test_what_stands_for_a_secret_is_not_one(text: str) -> None:
    assert body_masked_as("text/plain", text) == text
    assert json.loads(body_masked_as("application/json", json.dumps({"query": text, "code": "A-17"})))["query"] == text


def test_a_code_is_secret_in_a_url_alone() -> None:
    given_exchange = exchange(request_body=b'{"code": "ABC-1234", "key": "colour", "session": "morning"}')
    assert masker()(given_exchange) == given_exchange
    names = ["sig", "signature", "X-Amz-Signature", "auth", "key", "session", "code", "token"]
    query = "&".join(f"{name}=s3cr3t%2F{number}" for number, name in enumerate(names))
    link = "https://ann:s3cr3t@shop.example/cb?page=2&" + query
    body = json.dumps({"link": link, "text": f"see {link} now"}).encode()
    headers = (*JSON, ("Referer", link), ("Location", f"/cb?{query}"), ("X-Next", f"/?next={quote(link, safe='')}"))
    masked = masker()(exchange(path=f"/cb?{query}", request_headers=headers, request_body=body))
    assert b"s3cr3t" not in exchange_to_line(masked)
    assert b"s3cr3t" not in masked.request_body
    referer, location = masked.request_headers[1][1], masked.request_headers[2][1]
    assert masked.path == location
    assert referer.endswith(masked.path.removeprefix("/cb?"))
    assert json.loads(masked.request_body) == {"link": referer, "text": f"see {referer} now"}
    assert unquote(masked.request_headers[3][1]) == f"/?next={referer}"


def test_fields_of_multipart_forms_are_masked_between_their_boundaries() -> None:
    def form(password: str, token: str) -> bytes:
        fields = [
            f'Content-Disposition: form-data; name="password"\r\n\r\n{password}'.encode(),
            f'Content-Disposition: form-data; name="token"\r\nContent-Type: text/plain\r\n\r\n{token}'.encode(),
            b'Content-Disposition: form-data; name="photo"; filename="a.png"\r\n\r\n\x89PNG\xff\r\n--\x00',
        ]
        return b"".join(b"--XX\r\n" + field + b"\r\n" for field in fields) + b"--XX--\r\n"

    headers = (("content-type", "multipart/form-data; boundary=XX"), ("X-Token", "tokenONE"))
    masked = masker()(exchange(request_headers=headers, request_body=form("PW one", "tokenONE")))
    password = masked.request_body.split(b"\r\n\r\n")[1].split(b"\r\n")[0].decode()
    assert password.startswith("masked-")
    assert masked.request_body == form(password, masked.request_headers[1][1])


def test_elements_and_attributes_of_xml_are_masked() -> None:
    document = (
        '<login xmlns:w="urn:w" sessionId="sess&amp;one" kind=\'x\'><w:Password type="t">PW &lt;1</w:Password>'
        "<token><![CDATA[tok one]]></token><name>ann</name><code>17</code><password/></login>"
    )
    masked = body_masked_as("application/xml", document)
    tree = ET.fromstring(masked)
    assert tree.attrib["sessionId"].startswith("masked-")
    assert tree.attrib["kind"] == "x"
    texts = [child.text or "" for child in tree]
    assert [text.startswith("masked-") for text in texts] == [True, True, False, False, False]
    assert texts[2:] == ["ann", "17", ""]


@given(st.text(), st.text(min_size=1))
def test_json_stays_json_and_the_same_when_masked_again(prose: str, secret: str) -> None:
    value = {"note": f'{prose} password: "{secret}', prose: [secret, 1.50, None], "token": secret}
    masked = masker()(exchange(request_body=json.dumps(value).encode()))
    assert json.loads(masked.request_body).keys() >= {"note", "token"}
    assert masker()(masked) == masked


def test_fields_with_a_telling_name_are_masked_alike_and_others_stay() -> None:
    mask = field_masker()
    first, second = (mask("application/json", body) for body in (SESSION, SESSION.replace(b"mug", b"cup")))

    assert b"s3cr3t" not in first + second
    assert first.replace(b"mug", b"cup") == second
    assert json.loads(first)["item"] == "mug"
    assert mask("application/json", b'{"token": "another"}') != mask("application/json", b'{"token": "s3cr3t"}')
    assert mask("text/html", b"<p>mug</p>") == b"<p>mug</p>"


SESSION = b'{"token": "s3cr3t", "item": "mug", "user": {"password": "s3cr3t"}}'

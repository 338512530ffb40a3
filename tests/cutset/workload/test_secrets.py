import html
import json
from urllib.parse import quote

import pytest

from cutset.model.request import Expectation, Request, Response, Step
from cutset.workload.secrets import path_alone, without_secrets

STEP = Step(
    "POST",
    "/pay?token=query-secret&n=1",
    headers={"Authorization": "Bearer header-secret", "Cookie": "id=cookie-secret; a=b", "Accept": "application/json"},
    json={"card": [{"number": "4111 1111/1111 <1111>", "month": "12"}]},
)
REQUEST = Request("pay", STEP, setup=(Step("POST", "/login", form={"password": "form-secret", "user": "ada"}),))


def answered(body: str, request: Request = REQUEST, base_url: str = "") -> str:
    return without_secrets(Response(503, "text/plain", body.encode()), request, base_url).body.decode()


@pytest.mark.parametrize("secret", ["query-secret", "header-secret", "cookie-secret", "form-secret"])
def test_what_a_request_carries_is_taken_out_of_what_comes_back(secret: str) -> None:
    assert answered(f"no {secret} here, and no {secret} there") == "no … here, and no … there"


@pytest.mark.parametrize("written", [str, quote, html.escape, lambda text: json.dumps(text)[1:-1]])
def test_however_it_is_written(written: object) -> None:
    card = "4111 1111/1111 <1111>"
    assert answered(f"card {written(card)} refused") == "card … refused"  # type: ignore[operator]


def test_words_that_any_answer_may_have_stay() -> None:
    text = "ada bought 12 for 1, application/json"
    assert answered(text) == text


def test_numbers_stay_numbers_and_json_stays_json() -> None:
    request = Request("r", Step("GET", "/", headers={"X-Account": "1234567890"}))
    assert json.loads(answered('{"account": 1234567890}', request)) == {"account": 9999999999}


def test_what_an_answer_is_expected_to_have_is_no_secret() -> None:
    request = Request("r", Step("POST", "/", form={"email": "ada@example.com"}), expect=Expectation(text=("ada@ex",)))
    assert answered("for ada@example.com", request) == "for ada@example.com"


def test_the_user_in_an_address_is_taken_out_of_errors_too() -> None:
    response = without_secrets(Response(error="no route to url-secret1"), REQUEST, "http://me:url-secret1@h:1")
    assert response.error == "no route to …"


def test_a_query_is_not_told() -> None:
    assert (path_alone("/pay?token=x"), path_alone("/pay")) == ("/pay?…", "/pay")


def test_cookies_that_a_session_was_given_are_taken_out() -> None:
    response = without_secrets(Response(body=b"of session-secret, is"), REQUEST, values=["session-secret", "is"])
    assert response.body.decode() == "of …, is"


def test_headers_are_no_place_for_them_either() -> None:
    response = Response(200, headers=(("Location", "/next?token=query-secret"), ("Set-Cookie", "sid=abcdefgh12")))
    kept = without_secrets(response, REQUEST, values=["abcdefgh12"])
    assert kept.headers == (("Location", "/next?token=…"), ("Set-Cookie", "sid=…"))

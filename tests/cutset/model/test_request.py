import pytest

from cutset.model.request import OracleFunction, Response


def test_an_answer_is_read_as_text_json_and_by_its_headers() -> None:
    response = Response(200, "application/json", b'{"a": [1]}', headers=(("Vary", "a"), ("VARY", "b")))
    assert response.text == '{"a": [1]}'
    assert response.json() == {"a": [1]}
    assert response.header("vary") == "a, b"
    assert response.header("x") == ""
    with pytest.raises(ValueError, match="answered 0 with `<p>`, which is no JSON"):
        Response(body=b"<p>").json()


def test_an_oracle_is_the_same_if_its_code_is() -> None:
    one = OracleFunction("a.py:f", "17", check=lambda _: None)
    assert one == OracleFunction("a.py:f", "17")
    assert one != OracleFunction("a.py:f", "18")

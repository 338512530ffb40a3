from dataclasses import dataclass

import pytest
from pydantic import TypeAdapter, ValidationError

from cutset.model.expect import Address, EffectText, Expect, Port, Url, split_address


@dataclass(frozen=True, slots=True)
class Section:
    port: Port = 1
    address: Address = "h:1"
    url: Url = "http://h"
    effect: EffectText = "abort(503)"


def test_a_value_as_expected_is_itself() -> None:
    read = TypeAdapter(Section).validate_python({"port": 2, "address": "[::1]:80", "url": "https://h:9/x"})

    assert read == Section(2, "[::1]:80", "https://h:9/x")


@pytest.mark.parametrize(
    ("values", "meaning"),
    [
        ({"port": 65536}, "a port from 0 to 65535"),
        ({"address": "h:0"}, "`host:port`"),
        ({"address": "h"}, "`host:port`"),
        ({"url": "ftp://h"}, "a URL such as"),
        ({"url": "http://h:x"}, "a URL such as"),
        ({"effect": "explode(1)"}, "an effect such as"),
    ],
)
def test_another_value_is_refused_in_the_words_of_what_was_expected(values: dict[str, object], meaning: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Section).validate_python(values)
    assert meaning in str(caught.value.errors()[0]["ctx"]["error"])


def test_an_expectation_that_cannot_even_be_asked_does_not_hold() -> None:
    with pytest.raises(ValueError, match="a number in words"):
        Expect("a number in words", int).check("seven")


@pytest.mark.parametrize(("text", "parts"), [("h:1", ("h", 1)), ("[::1]:65535", ("::1", 65535)), ("a.b:0", ("a.b", 0))])
def test_an_address_has_a_host_and_a_port(text: str, parts: tuple[str, int]) -> None:
    assert split_address(text) == parts


@pytest.mark.parametrize("text", ["h", ":1", "h:", "h:-1", "h:65536", "h:１", "a b:1", "a/b:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected host:port"):
        split_address(text)

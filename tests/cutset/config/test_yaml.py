from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import with_config

from cutset.config.yaml import STRICT, given, problem, read_yaml, repeated, validate
from cutset.errors import UsageError
from cutset.model.expect import Positive


@dataclass(frozen=True, slots=True)
class Inner:
    size: Positive | None = None
    names: tuple[str, ...] = ()


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner = Inner()
    by_name: Mapping[str, Inner] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "forbidden" in self.by_name:
            raise problem("`forbidden` is no name")


def refusal(path: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        validate(path, Outer, read_yaml(path))
    return caught.value


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str | bytes) -> Path:
    Path("x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return Path("x.yaml")


def test_sections_are_read_into_their_dataclasses() -> None:
    path = write("inner: {size: 2, names: [a, b]}\nby_name: {x: {}}")

    assert validate(path, Outer, read_yaml(path)) == Outer(Inner(2, ("a", "b")), {"x": Inner()})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inner: {size: 0}", "`x.yaml`, `inner.size`: expected a whole number from 1 on, found 0"),
        ("by_name: {x: {sise: 1}}", "`x.yaml`, `by_name.x.sise`: unknown key. Did you mean `size`?"),
        ("by_name: {forbidden: {}}", "`x.yaml`: `forbidden` is no name"),
        ("inner: {names: [a, 2]}", "`x.yaml`, `inner.names[1]`: expected text, found 2 (put it in quotes)"),
        ("inner: {size: 1, size: 2}", "the key `size` was given before, on line 1"),
        ("on: {}", "the key `on` is not text: put it in quotes"),
        ("- a", "expected a mapping of keys to values, found a list"),
        ("", "`x.yaml` is empty"),
        ("a: [", "`x.yaml`, line 1"),
        (b"a: \xff", "expected UTF-8 text, found the byte 0xff at offset 3"),
        ("a: &b [*b]", "an alias (`*name`) contains itself"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str | bytes, message: str) -> None:
    assert message in refusal(write(text)).message


def test_a_missing_file_and_a_directory_are_refused() -> None:
    missing = refusal(Path("none.yaml"))
    assert missing.message == "Cannot read `none.yaml`: No such file or directory"
    assert missing.hint == "Write one, or name the right file"
    assert refusal(Path()).message == "Cannot read `.`: Is a directory"


def test_what_was_not_given_is_left_out() -> None:
    assert given(Inner(names=("a",))) == {"names": ("a",)}


def test_what_is_given_twice_is_told_once() -> None:
    assert repeated(["a", "b", "a", "a"]) == ["a"]

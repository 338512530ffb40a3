"""Reads YAML into frozen dataclasses: the one reader, with one set of messages, for every file that users write.

Sections are dataclasses whose fields say what is expected of them (`model.expect`). A value that is not so is named
with its place in the file; all problems at once.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from cutset.errors import UsageError
from cutset.manifests.bounded_yaml import BoundedLoader, read_bounded
from cutset.model.wording import did_you_mean, quoted, sentences

SHOWN_LENGTH = 60  # characters of a wrong value that a message repeats

Section = TypeVar("Section")
STRICT = ConfigDict(strict=True, extra="forbid")  # holds for the sections inside, too
_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")  # `<<` merges an anchored mapping


def problem(message: str) -> PydanticCustomError:
    """To raise in `__post_init__` of a section: what is wrong with it, in whole words."""
    return PydanticCustomError("problem", message)


def given(section: object) -> dict[str, Any]:
    """The keys that a section has: None stands for one that was not given."""
    return {name: value for name in get_type_hints(type(section)) if (value := getattr(section, name)) is not None}


def repeated(values: Iterable[Hashable]) -> list[Hashable]:
    return [value for value, count in Counter(values).items() if count > 1]


class _Loader(BoundedLoader):
    """Refuses what YAML lets pass: a key given twice, and keys that are not text (`on:` is a truth value)."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            problem = ""
            if key.tag not in _KEY_TAGS:
                problem = f"the key `{key.value}` is not text: put it in quotes"
            elif key.value in lines:
                problem = f"the key `{key.value}` was given before, on line {lines[key.value]}"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return node


def read_yaml(path: Path) -> Mapping[str, object]:
    try:
        text = read_bounded(path).decode("utf-8-sig")
        content = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise UsageError(f"Cannot read `{path}`: {error.strerror}", hint="Write one, or name the right file") from error
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise UsageError(f"`{path}`: expected UTF-8 text, {found}", hint="Save the file as UTF-8") from error
    except yaml.YAMLError as error:
        raise UsageError(_yaml_problem(path, error), hint="Correct the YAML there") from error
    except (ValueError, RecursionError) as error:  # a number of more digits than Python reads, a date that is none
        raise UsageError(f"`{path}` holds a value that cannot be read: {error}", hint="Put it in quotes") from error
    if content is None:
        raise UsageError(f"`{path}` is empty", hint="It needs at least `requests`, or the `services` of a mesh")
    if not isinstance(content, dict):
        raise UsageError(f"`{path}`: expected a mapping of keys to values, found {_shown(content)}")
    return content


def _yaml_problem(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    parts = (getattr(error, "context", None), getattr(error, "problem", None) or getattr(error, "reason", None))
    return f"`{path}`{where}: {', '.join(filter(None, parts))}"


def validate(path: Path, kind: type[Section], content: Mapping[str, object]) -> Section:
    # Through JSON, because pydantic's strict mode would refuse lists where tuples are declared.
    try:
        text = json.dumps(content, default=str)
    except ValueError as error:
        raise UsageError(f"`{path}`: an alias (`*name`) contains itself") from error
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = [f"{_key_path(each['loc'])}: {_words(kind, each)}" for each in error.errors()]
    if len(problems) == 1:
        raise UsageError(f"`{path}`{problems[0]}")
    raise UsageError(
        f"`{path}` has {len(problems)} problems:\n"
        + "\n".join(f"  {problem.removeprefix(', ')}" for problem in problems)
    )


_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "dataclass_type": "a mapping",
}


def _key_path(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location if step != "[key]")
    return f", `{''.join(steps).removeprefix('.')}`" if location else ""  # empty: the file as a whole


def _words(kind: type, error: ErrorDetails) -> str:
    match error["type"]:
        case "problem":
            return error["msg"]
        case "missing":
            return "required, but missing"
        case "unexpected_keyword_argument":
            return _unknown_key(str(error["loc"][-1]), _section_at(kind, error["loc"][:-1]))
        case "value_error":
            expected = str(error["ctx"]["error"])
        case "literal_error" | "enum":
            expected = error["ctx"]["expected"].replace("'", "`")
        case other:
            expected = _EXPECTED.get(other, error["msg"])
    advice = " (put it in quotes)" if error["type"] == "string_type" and isinstance(error["input"], int | float) else ""
    return f"expected {expected}, found {_shown(error['input'])}{advice}"


def _unknown_key(key: str, section: Any) -> str:
    valid = sorted(each.name for each in fields(section))
    return sentences("unknown key.", did_you_mean(key, valid), f"Valid keys: {quoted(valid)}")


def _section_at(kind: Any, location: tuple[int | str, ...]) -> Any:
    """The dataclass that describes a place in the file."""
    for step in location:
        if is_dataclass(kind):
            kind = get_type_hints(kind)[str(step)]
            kind = get_args(kind)[0] if type(None) in get_args(kind) else kind
        else:  # a list or a mapping of sections
            kind = next(filter(is_dataclass, get_args(kind)))
    return kind


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case list():
            return "a list" if value else "an empty list"
        case _:
            text = json.dumps(value, ensure_ascii=False, default=str)
            return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "…"

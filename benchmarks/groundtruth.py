"""Simulated programs of real applications, from files that tell which calls an application makes and which it needs.

    schema: cutset-groundtruth/1
    params: {products: 9}
    operations:
      "currency|Convert": {}
      "recommendation|List":
        calls: [{op: "catalog|ListProducts", err: fatal}]
      "catalog|ListProducts": {}
    requests:
      "GET /":
        calls:
          - {op: "currency|Convert", n: products, err: fatal}
          - {op: "recommendation|List", err: tolerated}

`operations` is a grammar: a call names the operation that it invokes, and the program of a request is its expansion.
`n` says how often a call is made, as a product of numbers and `params`. Errors that are `fatal`, or `crash` the caller,
fail it; those that are `tolerated`, or `silent`, do not. A request may name the operation that it enters (`entry_api`)
instead of calls of its own. Other keys are for human readers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Literal

import yaml
from pydantic import TypeAdapter, ValidationError

from cutset.errors import InputError
from cutset.simulation.simulated import All, Call, Optional, System


@dataclass(frozen=True, slots=True)
class _CallSite:
    op: str
    err: Literal["fatal", "crash", "tolerated", "silent"]
    n: int | str = 1


@dataclass(frozen=True, slots=True)
class _Operation:
    calls: tuple[_CallSite, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    calls: tuple[_CallSite, ...] | None = None
    entry_api: str = ""


@dataclass(frozen=True, slots=True)
class _Application:
    schema: Literal["cutset-groundtruth/1"]
    operations: dict[str, _Operation | None]  # a name alone is an operation without calls
    requests: dict[str, _Request]
    params: dict[str, int] = field(default_factory=dict)


def load_ground_truth(path: Path) -> Mapping[str, System]:
    """One program for each request of the application."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
        application = TypeAdapter(_Application).validate_python(content)
    except OSError as error:
        raise InputError(f"Cannot read `{path}`: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"`{path}` is not YAML: {error}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "the file"
        raise InputError(f"`{path}`, {where}: {problem['msg']}") from error
    try:
        return {name: _program(application, request) for name, request in application.requests.items()}
    except InputError as error:
        raise InputError(f"`{path}`: {error.message}", hint=error.hint) from error


def _program(application: _Application, request: _Request) -> System:
    if request.calls is not None:
        return _expand(application, request.calls, ())
    return _expand(application, _calls_of(application, request.entry_api), (request.entry_api,))


def _expand(application: _Application, calls: Sequence[_CallSite], callers: tuple[str, ...]) -> All:
    parts: list[System] = []
    for call in calls:
        if call.op in callers:
            raise InputError(f"`{call.op}` calls itself, by way of {' > '.join(callers)}")
        service, separator, api = call.op.partition("|")
        if not separator:
            raise InputError(f"`{call.op}` is not an operation", hint="Write `service|API`")
        body = _expand(application, _calls_of(application, call.op), (*callers, call.op))
        times = _times(application, call)
        if times:
            part = Call(api, body if body.parts else None, times=times, service=service)
            parts.append(part if call.err in ("fatal", "crash") else Optional(part))
    return All(tuple(parts))


def _calls_of(application: _Application, operation: str) -> Sequence[_CallSite]:
    if operation not in application.operations:
        raise InputError(f"The operation `{operation}` is called, but not among `operations`")
    described = application.operations[operation]
    return described.calls if described is not None else ()


def _times(application: _Application, call: _CallSite) -> int:
    def value(factor: str) -> int:
        if factor.isdecimal():
            return int(factor)
        if factor not in application.params:
            raise InputError(
                f"`{call.op}` is called `{call.n}` times, and `{factor}` is neither a number nor among `params`"
            )
        return application.params[factor]

    return prod(value(factor.strip()) for factor in str(call.n).split("*"))

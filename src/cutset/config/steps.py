"""Reads one step of a request: HTTP, gRPC, WebSocket, a user's function, or a command. Which it is, one key says."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from cutset.config.functions import FUNCTION, digest_of, function_file, loaded_function
from cutset.config.yaml import problem
from cutset.errors import UsageError
from cutset.model.expect import Expect, HeaderName, HeaderValue, HttpMethod, Name, Positive, Url, UrlPath
from cutset.model.request import Errand, Response, Step, WorkloadStep
from cutset.model.wording import quoted
from cutset.workload.filling import SESSION
from cutset.workload.secrets import leaves
from cutset.workload.taking import is_place

# By the key that says what kind of step it is, the keys that it may have besides.
KINDS: Mapping[str, frozenset[str]] = {
    "path": frozenset({"method", "headers", "form", "json", "body"}),
    "workload": frozenset(),
    "command": frozenset(),
    "source": frozenset({"only"}),
    "websocket": frozenset({"message", "headers", "answers"}),
    "grpc": frozenset({"message", "headers", "descriptor", "answers", "url"}),
}

_NAMING_FILES = frozenset({"workload", "command", "descriptor", "source", "function"})

FunctionText = Annotated[str, Expect("`file.py:function`, or `module:function`", FUNCTION.fullmatch)]
Command = Annotated[tuple[str, ...], Expect("a program and its arguments, as a list", lambda words: words and words[0])]
GrpcMethodName = Annotated[
    str, Expect("a gRPC method as `package.Service/Method`", re.compile(r"[A-Za-z_][\w.]*/[A-Za-z_]\w*").fullmatch)
]
ValueName = Annotated[
    str,
    Expect(
        "a name of letters, digits and _ other than `session`", lambda name: name.isidentifier() and name != SESSION
    ),
]
ValuePlace = Annotated[
    str, Expect("`json.order.id`, `header.x-token`, `cookie.sid`, or `regex` and an expression", is_place)
]


@dataclass(frozen=True, slots=True)
class StepSection:
    path: UrlPath | None = None
    method: HttpMethod | None = None
    headers: Mapping[HeaderName, HeaderValue] | None = None
    form: Mapping[str, str] | None = None
    json: Any = None
    body: str | None = None
    workload: FunctionText | None = None
    command: Command | None = None
    grpc: GrpcMethodName | None = None
    message: Any = None
    descriptor: Name | None = None
    answers: Positive | None = None
    url: Url | None = None
    source: Name | None = None
    websocket: UrlPath | None = None
    only: Annotated[tuple[Name, ...], Expect("at least one name", len)] | None = None

    def __post_init__(self) -> None:
        given = {each.name for each in fields(StepSection) if getattr(self, each.name) is not None}
        kinds = [kind for kind in KINDS if kind in given]
        if not kinds:
            raise problem(f"needs one of {quoted(KINDS)}: it says what is sent")
        if len(kinds) > 1:
            raise problem(f"has {_listed(kinds)}, but a step is one of them")
        if foreign := sorted(given - KINDS[kinds[0]] - {kinds[0]}):
            raise problem(f"has {_listed(foreign)}, which a step with `{kinds[0]}` cannot have")
        if len(bodies := sorted(given & {"form", "json", "body"})) > 1:
            raise problem(f"has {_listed(bodies)}, but a request has one body")


@dataclass(frozen=True, slots=True)
class SetupSection(StepSection):
    take: Mapping[ValueName, ValuePlace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        StepSection.__post_init__(self)
        if self.source:
            raise problem("has `source`, but a step is one request")


def _listed(names: Any) -> str:
    return " and ".join(f"`{name}`" for name in names)


def files_named(content: object) -> set[str]:
    """The keys of a configuration's requests that name other files."""
    if isinstance(content, list):
        return {key for each in content for key in files_named(each)}
    if not isinstance(content, dict):
        return set()
    parts = (content.get(name) for name in ("requests", "setup", "expect"))
    return {*(_NAMING_FILES & content.keys())} | {key for part in parts for key in files_named(part)}


def label_of(section: StepSection) -> str:
    """What the request is called, if it has no name."""
    if section.source:
        return section.source
    if section.workload:
        return section.workload.rpartition(":")[2]
    if section.command:
        return Path(section.command[0]).name
    if section.websocket:
        return f"WEBSOCKET {section.websocket.partition('?')[0]}"
    if section.grpc:
        return section.grpc.rpartition(".")[2]
    # Without its query, which may hold a token: the name is in every report.
    return f"{section.method or 'GET'} {(section.path or '').partition('?')[0]}"


def step_of(section: StepSection, folder: Path, take: Mapping[str, str] | None = None) -> Step | WorkloadStep:
    """`folder` is that of the file: what it names is there."""
    if section.workload:
        return _function_step(section.workload, folder, take or {})
    if section.command:
        return _command_step(section.command, folder, take or {})
    if section.websocket:
        return _socket_step(section, section.websocket, take or {})
    if section.grpc:
        return _grpc_step(section, section.grpc, folder, take or {})
    return Step(
        section.method or "GET",
        section.path or "",
        section.headers or {},
        section.form,
        section.json,
        section.body,
        take or {},
    )


def _function_step(name: str, folder: Path, take: Mapping[str, str]) -> WorkloadStep:
    from cutset.workload.functions import run_function  # noqa: PLC0415 -- few have any

    async def run(errand: Errand) -> Response:
        return await run_function(name, loaded_function(name, folder), errand)

    return WorkloadStep(name, run, digest_of(function_file(name, folder)), take=take)


def _command_step(command: tuple[str, ...], folder: Path, take: Mapping[str, str]) -> WorkloadStep:
    from cutset.workload.commands import run_command  # noqa: PLC0415 -- likewise

    version = hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
    return WorkloadStep(command[0], partial(run_command, command, folder.absolute()), version, take=take)


def _grpc_step(section: StepSection, method: str, folder: Path, take: Mapping[str, str]) -> WorkloadStep:
    from cutset.workload.grpc.send import GrpcRequest, run_grpc  # noqa: PLC0415 -- likewise

    path = (folder / section.descriptor).absolute() if section.descriptor else None
    if path and not path.is_file():
        hint = "Paths count from the file that names them"
        raise UsageError(f"`{method}`: there is no descriptor set `{path}`", hint=hint)
    headers = section.headers or {}
    request = GrpcRequest(method, section.message, headers, path, section.url or "", section.answers or 0)
    version = hashlib.sha256(_sent(section) + (path.read_bytes() if path else b"")).hexdigest()[:16]
    texts = (*leaves(section.message), *headers.values())
    return WorkloadStep(method, partial(run_grpc, request, {}), version, texts, take)


def _socket_step(section: StepSection, path: str, take: Mapping[str, str]) -> WorkloadStep:
    from cutset.workload.sockets import SocketRequest, run_socket  # noqa: PLC0415 -- likewise

    headers = section.headers or {}
    request = SocketRequest(path, headers, section.message, section.answers or 0)
    version = hashlib.sha256(_sent(section)).hexdigest()[:16]
    queried = (value for _, value in parse_qsl(path.partition("?")[2]))
    texts = (*leaves(section.message), *headers.values(), *queried)
    return WorkloadStep(label_of(section), partial(run_socket, request), version, texts, take)


def _sent(section: StepSection) -> bytes:
    parts = (section.message, dict(section.headers or {}), section.answers, section.url, section.websocket)
    return json.dumps(parts, sort_keys=True).encode()

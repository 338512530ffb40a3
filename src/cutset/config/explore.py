"""Reads `cutset.yaml` and `mesh.yaml` into frozen dataclasses, and the signing key from the environment.

The private `_…Section` classes are the files as they are written; the public ones are what the program works with.
In a section, None stands for a key that was not given: defaults live in the public class, once.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic_core import ErrorDetails, PydanticCustomError

from cutset.errors import InputError, UsageError
from cutset.experiment.trial import Target
from cutset.inject.local.envoy import split_address
from cutset.inject.local.mesh import MeshService, MeshSpec
from cutset.judge.sequential import failures_needed
from cutset.lineage.path import Level
from cutset.model.fault import UNAVAILABLE, Effect
from cutset.model.request import Expectation, Request, Step
from cutset.model.wording import did_you_mean, quoted, sentences
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.search.strategy import Certificates

KEY_VARIABLE = "CUTSET_KEY"
SHOWN_LENGTH = 60  # characters of a wrong value that a message repeats

Section = TypeVar("Section")
STRICT = ConfigDict(strict=True, extra="forbid")  # holds for the sections inside, too
_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")  # `<<` merges an anchored mapping
Carrier = Literal["tracestate", "baggage", "jaeger"]


def expect(meaning: str, holds: Callable[[Any], object]) -> AfterValidator:
    """A problem reads `expected <meaning>, found <value>`."""

    def check(value: Any) -> Any:
        try:
            good = holds(value)
        except (ValueError, InputError):
            good = False
        if not good:
            raise ValueError(meaning)
        return value

    return AfterValidator(check)


def is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.query


Port = Annotated[int, expect("a port from 0 to 65535", lambda port: 0 <= port <= 65535)]
Positive = Annotated[int, expect("a whole number from 1 on", lambda number: number >= 1)]
NotNegative = Annotated[int, expect("a whole number from 0 on", lambda number: number >= 0)]
Seconds = Annotated[float, expect("seconds above 0, at most 3600", lambda seconds: 0 < seconds <= 3600)]
Minutes = Annotated[float, expect("minutes from 0 on", lambda minutes: 0 <= minutes < float("inf"))]
FlakeRate = Annotated[float, expect("a share from 0 to 0.5", lambda share: 0 <= share <= 0.5)]
ErrorRate = Annotated[float, expect("a share above 0 and below 1", lambda share: 0 < share < 1)]
Percent = Annotated[float, expect("a percentage above 0, at most 100", lambda percent: 0 < percent <= 100)]
Status = Annotated[int, expect("an HTTP status from 100 to 599", lambda status: 100 <= status <= 599)]
Address = Annotated[str, expect("`host:port`", lambda text: split_address(text)[1] > 0)]
Url = Annotated[str, expect("a URL such as `http://127.0.0.1:9080`", is_url)]
EffectText = Annotated[str, expect("an effect such as `abort(503)`, `grpc(14)` or `delay(250ms)`", Effect.parse)]
Method = Annotated[str, expect("an HTTP method in capitals", re.compile("[A-Z]+").fullmatch)]
UrlPath = Annotated[str, expect("a path that begins with `/` and has no spaces", re.compile(r"/\S*").fullmatch)]
HeaderName = Annotated[str, expect("the name of a header", re.compile(r"[!#-'*+.^`|~\w-]+", re.ASCII).fullmatch)]
HeaderValue = Annotated[str, expect("printable ASCII", lambda text: text.isascii() and (text + " ").isprintable())]
Name = Annotated[str, expect("a name", lambda text: text.strip() and text.isprintable())]


@dataclass(frozen=True, slots=True)
class Collector:
    host: Name = "127.0.0.1"
    http_port: Port = 4318
    grpc_port: Port = 4317
    export_interval: Seconds = 5.0  # how long services and sidecars may hold spans back; OpenTelemetry's default


@dataclass(frozen=True, slots=True)
class Limits:
    max_size: Positive = 3  # the largest cut to look for
    parallel: Positive = 16  # experiments in flight
    repeats: Positive | None = None  # a failure is believed after so many in a row; not given: by the two rates
    flake_rate: FlakeRate = 0.01  # the share of answers that fail by chance, without any fault
    error_rate: ErrorRate = 0.001  # how often chance alone may make an experiment a false finding
    experiments: NotNegative = 10_000  # stop after so many; this and the next two: 0 for no limit
    rounds: NotNegative = 0  # stop each request class after so many
    minutes: Minutes = 0.0  # start no experiment after so many
    trace_timeout: Seconds = 20.0  # how long to wait for an experiment's trace

    @property
    def failures_needed(self) -> int:
        return self.repeats or failures_needed(self.flake_rate, self.error_rate)


@dataclass(frozen=True, slots=True)
class SearchChoice:
    strategy: StrategyName = StrategyName.CUTS
    certificates: Certificates = Certificates.HYBRID  # what a surviving experiment is taken to prove
    across_requests: AcrossRequests = AcrossRequests.VERIFY  # what fails one request class, for the others


@dataclass(frozen=True, slots=True)
class Config:
    target: Target
    requests: tuple[Request, ...]
    collector: Collector = Collector()
    limits: Limits = Limits()
    search: SearchChoice = SearchChoice()
    effect: Effect = UNAVAILABLE
    points: Level = Level.API
    mesh: MeshSpec | None = None


def load_config(path: Path) -> Config:
    return _config(path, read_yaml(path))


def load_mesh(path: Path) -> MeshSpec:
    """From a `mesh.yaml`, or from a `cutset.yaml` with a `mesh` section."""
    content = read_yaml(path)
    if "mesh" in content and (mesh := _config(path, content).mesh):
        return mesh
    return _mesh(validate(path, _MeshSection, content))


def signing_key(environ: Mapping[str, str]) -> bytes:
    if not (key := environ.get(KEY_VARIABLE, "")):
        raise UsageError(
            f"The environment variable `{KEY_VARIABLE}` is not set: fault plans cannot be signed",
            hint=f"Run `export {KEY_VARIABLE}=$(openssl rand -hex 32)`, and give the sidecars the same key",
        )
    return key.encode(errors="surrogateescape")


@dataclass(frozen=True, slots=True)
class _TargetSection:
    url: Url | None = None
    environment: Name | None = None
    carriers: Annotated[tuple[Carrier, ...], expect("at least one carrier", len)] | None = None
    health: tuple[Address, ...] | None = None


@dataclass(frozen=True, slots=True)
class _StepSection:
    path: UrlPath
    method: Method = "GET"
    headers: Mapping[HeaderName, HeaderValue] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Any = None
    body: str | None = None

    def __post_init__(self) -> None:
        given = [f"`{name}`" for name in ("form", "json", "body") if getattr(self, name) is not None]
        if len(given) > 1:
            raise PydanticCustomError("problem", f"has {' and '.join(given)}, but a request has one body")


@dataclass(frozen=True, slots=True)
class _ExpectSection:
    status: tuple[Status, ...] | None = None
    keywords: tuple[Name, ...] | None = None
    max_seconds: Seconds | None = None


@dataclass(frozen=True, slots=True)
class _RequestSection(_StepSection):
    name: Name | None = None
    setup: tuple[_StepSection, ...] = ()
    expect: _ExpectSection = _ExpectSection()


@dataclass(frozen=True, slots=True)
class _ServiceSection:
    protocol: Literal["http", "grpc"]
    replicas: Annotated[tuple[Address, ...], expect("at least one replica", len)]
    port: Port | None = None
    retries: NotNegative | None = None
    timeout_seconds: Seconds | None = None
    outlier_detection: bool | None = None
    retry_budget_percent: Percent | None = None
    hedge_after_seconds: Seconds | None = None
    max_parallel: Positive | None = None
    fallback: Mapping[str, Literal["last-good", "last-good-or-empty"]] | None = None


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _MeshSection:
    services: Annotated[Mapping[str, _ServiceSection], expect("at least one service", len)]
    entry: str | None = None
    edge_port: Port | None = None
    admin_port: Port | None = None
    environment: Name | None = None
    collector: Address | None = None
    workers: Positive | None = None

    def __post_init__(self) -> None:
        if self.entry and self.entry not in self.services:
            names = ", ".join(f"`{name}`" for name in self.services)
            raise PydanticCustomError("problem", f"the entry `{self.entry}` is none of the services {names}")
        ports = [self.edge_port, self.admin_port, *(service.port for service in self.services.values())]
        for port in _repeated(port for port in ports if port):
            raise PydanticCustomError("problem", f"port {port} is given twice")


def _refuse_equal_names(requests: tuple[_RequestSection, ...]) -> tuple[_RequestSection, ...]:
    for name in _repeated(map(_name, requests)):
        raise PydanticCustomError("problem", f"two are called `{name}`: give each a `name` of its own")
    return requests


def _repeated(values: Iterable[Section]) -> list[Section]:
    return [value for value, count in Counter(values).items() if count > 1]


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _ConfigSection:
    requests: Annotated[
        tuple[_RequestSection, ...], expect("at least one request", len), AfterValidator(_refuse_equal_names)
    ]
    target: _TargetSection = _TargetSection()
    collector: Collector = Collector()
    limits: Limits = Limits()
    search: SearchChoice = SearchChoice()
    effect: EffectText = str(UNAVAILABLE)
    points: Literal["api", "replica"] = "api"
    mesh: _MeshSection | None = None
    drill: Mapping[str, Any] | None = None  # of no interest here: `cutset drill` reads it
    harden: Mapping[str, Any] | None = None  # likewise `cutset harden`


def _config(path: Path, content: Mapping[str, object]) -> Config:
    section = validate(path, _ConfigSection, content)
    mesh = _mesh(section.mesh, section.target.environment or "local") if section.mesh else None
    return Config(
        target=_target(path, section.target, mesh),
        requests=tuple(map(_request, section.requests)),
        collector=section.collector,
        limits=section.limits,
        search=section.search,
        effect=Effect.parse(section.effect),
        points=Level(section.points),
        mesh=mesh,
    )


def _given(section: object) -> dict[str, Any]:
    return {name: value for name in get_type_hints(type(section)) if (value := getattr(section, name)) is not None}


def _mesh(section: _MeshSection, environment: str = "local") -> MeshSpec:
    services = tuple(MeshService(name=name, **_given(service)) for name, service in section.services.items())
    return MeshSpec(**({"environment": environment} | _given(section) | {"services": services}))


def _target(path: Path, section: _TargetSection, mesh: MeshSpec | None) -> Target:
    """What is not given follows from the mesh."""
    known: dict[str, Any] = {}
    if mesh is not None:
        known["environment"] = mesh.environment
        known["health"] = tuple(dict.fromkeys(address for each in mesh.services for address in each.replicas))
        if entry_port := {service.name: service.port for service in mesh.services}.get(mesh.entry):
            known["url"] = f"http://127.0.0.1:{entry_port}"
    known |= _given(section)
    if "url" not in known:
        raise UsageError(
            f"`{path}`, `target.url`: required, but missing",
            hint="Say where experiments enter, or name the `entry` of the `mesh` and give that service a `port`",
        )
    if mesh is not None and known["environment"] != mesh.environment:
        differ = f"`{known['environment']}` differs from `mesh.environment`, `{mesh.environment}`"
        raise UsageError(
            f"`{path}`, `target.environment`: {differ}",
            hint="The mesh ignores plans that were signed for another environment: leave one of the two out",
        )
    return Target(**known)


def _name(section: _RequestSection) -> str:
    return section.name or f"{section.method} {section.path}"


def _request(section: _RequestSection) -> Request:
    setup = tuple(map(_step, section.setup))
    return Request(_name(section), _step(section), setup, Expectation(**_given(section.expect)))


def _step(section: _StepSection) -> Step:
    return Step(section.method, section.path, section.headers, section.form, section.json, section.body)


class _Loader(yaml.SafeLoader):
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
        text = path.read_bytes().decode("utf-8-sig")
        content = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise UsageError(f"Cannot read `{path}`: {error.strerror}", hint="Write one, or name the right file") from error
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise UsageError(f"`{path}`: expected UTF-8 text, {found}", hint="Save the file as UTF-8") from error
    except yaml.YAMLError as error:
        raise UsageError(_yaml_problem(path, error), hint="Correct the YAML there") from error
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
        problems = [f"{_key_path(each['loc'])}: {_problem(kind, each)}" for each in error.errors()]
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


def _problem(kind: type, error: ErrorDetails) -> str:
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

"""Reads `cutset.yaml`: what `cutset explore` is to explore, and how.

The private `_…Section` classes are the file as it is written; the public ones are what the program works with.
In a section, None stands for a key that was not given: defaults live in the public class, once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, with_config

from cutset.campaign.settings import CampaignSettings, Limits, SearchChoice
from cutset.config.mesh import MeshSection, mesh_of
from cutset.config.yaml import STRICT, given, problem, read_yaml, repeated, validate
from cutset.errors import UsageError
from cutset.lineage.path import Level
from cutset.model.expect import (
    Address,
    EffectText,
    Expect,
    HeaderName,
    HeaderValue,
    HttpMethod,
    Name,
    Seconds,
    Status,
    Url,
    UrlPath,
)
from cutset.model.fault import UNAVAILABLE, Effect
from cutset.model.mesh import MeshSpec
from cutset.model.request import Expectation, Request, Step
from cutset.model.target import Receiver, Target
from cutset.model.wording import did_you_mean, known_names, sentences

Scalar = Annotated[
    Any, Expect("a text, a number, true, false or null", lambda value: isinstance(value, str | int | float | None))
]
Carrier = Literal["tracestate", "baggage", "jaeger", "datadog", "b3"]


@dataclass(frozen=True, slots=True)
class Config:
    target: Target
    requests: tuple[Request, ...]
    collector: Receiver = field(default_factory=Receiver)
    limits: Limits = field(default_factory=Limits)
    search: SearchChoice = field(default_factory=SearchChoice)
    effect: Effect = UNAVAILABLE
    points: Level = Level.API
    mesh: MeshSpec | None = None
    path: Path | None = field(default=None, compare=False)  # the file that says so

    @property
    def campaign(self) -> CampaignSettings:
        services = self.mesh.services if self.mesh else ()
        replicas = {service.name: len(service.replicas) for service in services}
        return CampaignSettings(self.limits, self.search, self.effect, self.points, replicas)


def load_config(path: Path) -> Config:
    return _config(path, read_yaml(path))


def load_mesh(path: Path) -> MeshSpec:
    """From a `mesh.yaml`, or from a `cutset.yaml` with a `mesh` section."""
    content = read_yaml(path)
    if "mesh" in content and (mesh := _config(path, content).mesh):
        return mesh
    return mesh_of(validate(path, MeshSection, content))


def adjusted(
    config: Config,
    *,
    requests: Sequence[str] = (),
    points: Level | None = None,
    limits: Mapping[str, Any] | None = None,
    search: Mapping[str, Any] | None = None,
) -> Config:
    """What is said here wins over the file; in `limits` and `search`, None stands for what is not said."""
    return replace(
        config,
        requests=tuple(request_named(name, config.requests) for name in requests) or config.requests,
        points=points or config.points,
        limits=replace(config.limits, **_said(limits)),
        search=replace(config.search, **_said(search)),
    )


def _said(options: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (options or {}).items() if value is not None}


def request_named(name: str, requests: Sequence[Request]) -> Request:
    for request in requests:
        if request.name == name:
            return request
    names = [request.name for request in requests]
    raise UsageError(f"There is no request `{name}`", hint=sentences(did_you_mean(name, names), known_names(names)))


@dataclass(frozen=True, slots=True)
class _TargetSection:
    url: Url | None = None
    environment: Name | None = None
    carriers: Annotated[tuple[Carrier, ...], Expect("at least one carrier", len)] | None = None
    health: tuple[Address, ...] | None = None


@dataclass(frozen=True, slots=True)
class _StepSection:
    path: UrlPath
    method: HttpMethod = "GET"
    headers: Mapping[HeaderName, HeaderValue] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Any = None
    body: str | None = None

    def __post_init__(self) -> None:
        bodies = [f"`{name}`" for name in ("form", "json", "body") if getattr(self, name) is not None]
        if len(bodies) > 1:
            raise problem(f"has {' and '.join(bodies)}, but a request has one body")


@dataclass(frozen=True, slots=True)
class _ExpectSection:
    status: tuple[Status, ...] | None = None
    keywords: tuple[Name, ...] | None = None
    max_seconds: Seconds | None = None
    text: tuple[Name, ...] | None = None
    json: Mapping[Name, Scalar] | None = None


@dataclass(frozen=True, slots=True)
class _RequestSection(_StepSection):
    name: Name | None = None
    setup: tuple[_StepSection, ...] = ()
    expect: _ExpectSection = _ExpectSection()


def _refuse_equal_names(requests: tuple[_RequestSection, ...]) -> tuple[_RequestSection, ...]:
    for name in repeated(map(_name, requests)):
        raise problem(f"two are called `{name}`: give each a `name` of its own")
    return requests


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _ConfigSection:
    requests: Annotated[
        tuple[_RequestSection, ...], Expect("at least one request", len), AfterValidator(_refuse_equal_names)
    ]
    target: _TargetSection = _TargetSection()
    collector: Receiver = field(default_factory=Receiver)
    limits: Limits = field(default_factory=Limits)
    search: SearchChoice = field(default_factory=SearchChoice)
    effect: EffectText = str(UNAVAILABLE)
    points: Literal["api", "replica"] = "api"
    mesh: MeshSection | None = None
    drill: Mapping[str, Any] | None = None  # of no interest here: `cutset drill` reads it
    harden: Mapping[str, Any] | None = None  # likewise `cutset harden`


def _config(path: Path, content: Mapping[str, object]) -> Config:
    section = validate(path, _ConfigSection, content)
    mesh = mesh_of(section.mesh, section.target.environment or "local") if section.mesh else None
    return Config(
        target=_target(path, section.target, mesh),
        requests=tuple(map(_request, section.requests)),
        collector=section.collector,
        limits=section.limits,
        search=section.search,
        effect=Effect.parse(section.effect),
        points=Level(section.points),
        mesh=mesh,
        path=path.absolute(),
    )


def _target(path: Path, section: _TargetSection, mesh: MeshSpec | None) -> Target:
    """What is not given follows from the mesh."""
    known: dict[str, Any] = {}
    if mesh is not None:
        known["environment"] = mesh.environment
        known["health"] = tuple(dict.fromkeys(address for each in mesh.services for address in each.replicas))
        if entry_port := {service.name: service.port for service in mesh.services}.get(mesh.entry):
            known["url"] = f"http://127.0.0.1:{entry_port}"
    known |= given(section)
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
    # Without its query, which may hold a token: the name is in every report.
    return section.name or f"{section.method} {section.path.partition('?')[0]}"


def _request(section: _RequestSection) -> Request:
    setup = tuple(map(_step, section.setup))
    return Request(_name(section), _step(section), setup, Expectation(**given(section.expect)))


def _step(section: _StepSection) -> Step:
    return Step(section.method, section.path, section.headers, section.form, section.json, section.body)

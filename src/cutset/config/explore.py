"""Reads `cutset.yaml`: what `cutset explore` is to explore, and how.

The private `_…Section` classes are the file as it is written; the public ones are what the program works with.
In a section, None stands for a key that was not given: defaults live in the public class, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, with_config

from cutset.campaign.settings import CampaignSettings, Limits, SearchChoice
from cutset.config.functions import FUNCTION, digest_of, function_file, named_function
from cutset.config.key import signing_key
from cutset.config.mesh import MeshSection, mesh_of
from cutset.config.sources import requests_from
from cutset.config.steps import SetupSection, StepSection, label_of, step_of
from cutset.config.yaml import STRICT, given, problem, read_yaml, repeated, validate
from cutset.errors import UsageError
from cutset.guards.settings import GuardSettings
from cutset.impact.settings import ImpactSettings
from cutset.judge.conditions import problem_with, problem_with_path, problem_with_pattern
from cutset.lineage.path import Level
from cutset.model.cluster import IstioPlace
from cutset.model.effect import UNAVAILABLE, Effect, EffectChoice
from cutset.model.expect import (
    Address,
    EffectText,
    Expect,
    HeaderName,
    Name,
    Seconds,
    Status,
    Url,
)
from cutset.model.mesh import MeshSpec
from cutset.model.request import Expectation, OracleFunction, Request
from cutset.model.target import Receiver, Target
from cutset.model.wording import did_you_mean, known_names, sentences


def _checked(why_not: Callable[[Any], str], value: Any) -> Any:
    if expected := why_not(value):
        raise ValueError(expected)
    return value


JsonPath = Annotated[str, AfterValidator(partial(_checked, problem_with_path))]
ExpectedValue = Annotated[Any, AfterValidator(partial(_checked, problem_with))]
ExpectedPattern = Annotated[str, AfterValidator(partial(_checked, problem_with_pattern))]
FunctionName = Annotated[str, Expect("a function such as `tests/oracle.py:is_good`", FUNCTION.fullmatch)]
Carrier = Literal["tracestate", "baggage", "jaeger", "datadog", "b3"]


@dataclass(frozen=True, slots=True)
class Config:
    target: Target
    requests: tuple[Request, ...]
    collector: Receiver = field(default_factory=Receiver)
    limits: Limits = field(default_factory=Limits)
    search: SearchChoice = field(default_factory=SearchChoice)
    effects: EffectChoice = field(default_factory=EffectChoice)
    points: Level = Level.API
    mesh: MeshSpec | None = None
    istio: IstioPlace | None = None
    start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name of a service, the command that runs it
    guards: GuardSettings = field(default_factory=GuardSettings)
    impact: ImpactSettings = field(default_factory=ImpactSettings)
    keep_answers: bool = True  # of requests that failed, and of one that did not
    path: Path | None = field(default=None, compare=False)  # the file that says so

    @property
    def campaign(self) -> CampaignSettings:
        services = self.mesh.services if self.mesh else ()
        replicas = {service.name: len(service.replicas) for service in services}
        return CampaignSettings(self.limits, self.search, self.effects, self.points, replicas)


def load_config(path: Path) -> Config:
    return _config(path, read_yaml(path))


def load_place(path: Path) -> Config:
    """For whoever brings requests of their own: the file need not have any."""
    content = read_yaml(path)
    if "requests" in content:
        return _config(path, content)
    return replace(_config(path, {**content, "requests": [{"path": "/"}]}), requests=())


def load_mesh(path: Path) -> MeshSpec:
    """From a `mesh.yaml`, or from a `cutset.yaml` with a `mesh` section."""
    content = read_yaml(path)
    if "mesh" in content and (mesh := load_place(path).mesh):
        return mesh
    return mesh_of(validate(path, MeshSection, content))


def adjusted(
    config: Config,
    *,
    requests: Sequence[str] = (),
    points: Level | None = None,
    effects: Sequence[str] = (),
    limits: Mapping[str, Any] | None = None,
    search: Mapping[str, Any] | None = None,
) -> Config:
    """What is said here wins over the file; in `limits` and `search`, None stands for what is not said.

    `effects` are tried at every point: what the file has for single services or APIs is not what was asked for.
    """
    return replace(
        config,
        requests=tuple(request_named(name, config.requests) for name in requests) or config.requests,
        points=points or config.points,
        effects=EffectChoice(tuple(map(Effect.parse, effects))) if effects else config.effects,
        limits=replace(config.limits, **_said(limits)),
        search=replace(config.search, **_said(search)),
    )


def _said(options: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (options or {}).items() if value is not None}


def plan_key(config: Config, environ: Mapping[str, str]) -> bytes:
    """The key that signs plans for the target. Sidecars of Istio know a public one alone."""
    return signing_key(environ, config.target.environment if config.istio else "", private=bool(config.istio))


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
class _ExpectSection:
    status: tuple[Status, ...] | None = None
    keywords: tuple[Name, ...] | None = None
    max_seconds: Seconds | None = None
    text: tuple[Name, ...] | None = None
    json: Mapping[JsonPath, ExpectedValue] | None = None
    header: Mapping[HeaderName, ExpectedValue] | None = None
    matches: tuple[ExpectedPattern, ...] | None = None
    function: FunctionName | None = None


@dataclass(frozen=True, slots=True)
class _RequestSection(StepSection):
    name: Name | None = None
    setup: tuple[SetupSection, ...] = ()
    expect: _ExpectSection = _ExpectSection()

    def __post_init__(self) -> None:
        StepSection.__post_init__(self)
        if self.source and (self.name or self.setup):
            raise problem("has `source`, whose requests have names and steps of their own")


def _refuse_equal_names(requests: tuple[_RequestSection, ...]) -> tuple[_RequestSection, ...]:
    for name in repeated(map(_name, requests)):
        raise problem(f"two are called `{name}`: give each a `name` of its own")
    return requests


_Effects = Annotated[tuple[EffectText, ...], Expect("at least one effect", len)]


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
    effects: _Effects = (str(UNAVAILABLE),)
    effects_at: Mapping[Name, _Effects] = field(default_factory=dict)  # by service, or by `service/API`
    points: Literal["api", "replica"] = "api"
    stores: Mapping[Name, Address] = field(default_factory=dict)  # what agents' calls go to, by what it is called
    mesh: MeshSection | None = None
    istio: IstioPlace | None = None
    start: Mapping[Name, Annotated[tuple[str, ...], Expect("the words of a command", len)]] = field(
        default_factory=dict
    )
    guards: GuardSettings = field(default_factory=GuardSettings)
    impact: ImpactSettings = field(default_factory=ImpactSettings)
    keep_answers: bool = True
    drill: Mapping[str, Any] | None = None  # of no interest here: `cutset drill` reads it
    harden: Mapping[str, Any] | None = None  # likewise `cutset harden`

    def __post_init__(self) -> None:
        if self.collector.jaeger and self.collector.tempo:
            raise problem("has `collector.jaeger` and `collector.tempo`, but spans are looked up in one place")
        if self.mesh and self.istio:
            raise problem("has `mesh` and `istio`, but a system is in one of them")


def _config(path: Path, content: Mapping[str, object]) -> Config:
    section = validate(path, _ConfigSection, content)
    mesh = mesh_of(section.mesh, section.target.environment or "local") if section.mesh else None
    return Config(
        target=replace(_target(path, section.target, mesh or section.istio), stores=_by_address(section.stores)),
        requests=_requests(section.requests, path),
        collector=section.collector,
        limits=section.limits,
        search=section.search,
        effects=_effects(section),
        points=Level(section.points),
        mesh=mesh,
        istio=section.istio,
        start=section.start,
        guards=section.guards,
        impact=section.impact,
        keep_answers=section.keep_answers,
        path=path.absolute(),
    )


def _effects(section: _ConfigSection) -> EffectChoice:
    rules = tuple((name, tuple(map(Effect.parse, texts))) for name, texts in section.effects_at.items())
    return EffectChoice(tuple(map(Effect.parse, section.effects)), rules)


def _by_address(stores: Mapping[str, str]) -> dict[str, str]:
    return {address: name for name, address in stores.items()}


def _target(path: Path, section: _TargetSection, place: MeshSpec | IstioPlace | None) -> Target:
    """What is not given follows from where the system is."""
    known = {**_known_of(place), **given(section)}
    if "url" not in known:
        istio = isinstance(place, IstioPlace)
        raise UsageError(
            f"`{path}`, `target.url`: required, but missing",
            hint="Say where experiments enter: `istio.gateway` as `namespace/service`, or `target.url`"
            if istio
            else "Say where experiments enter, or name the `entry` of the `mesh` and give that service a `port`",
        )
    if isinstance(place, MeshSpec) and known["environment"] != place.environment:
        differ = f"`{known['environment']}` differs from `mesh.environment`, `{place.environment}`"
        raise UsageError(
            f"`{path}`, `target.environment`: {differ}",
            hint="The mesh ignores plans that were signed for another environment: leave one of the two out",
        )
    return Target(**known)


def _known_of(place: MeshSpec | IstioPlace | None) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if isinstance(place, IstioPlace):
        known["environment"] = place.namespaces[0]
        if place.gateway:
            known["url"] = place.gateway_url
    elif place is not None:
        known["environment"] = place.environment
        known["health"] = tuple(dict.fromkeys(address for each in place.services for address in each.replicas))
        if entry_port := {service.name: service.port for service in place.services}.get(place.entry):
            known["url"] = f"http://127.0.0.1:{entry_port}"
    return known


def _name(section: _RequestSection) -> str:
    return section.name or label_of(section)


def _requests(sections: Sequence[_RequestSection], path: Path) -> tuple[Request, ...]:
    found = tuple(each for section in sections for each in _section_requests(section, path.parent))
    for name in repeated(each.name for each in found):
        hint = "A `source` has it too: choose others of that with `only`"
        raise UsageError(f"`{path}`, `requests`: two are called `{name}`", hint=hint)
    return found


def _section_requests(section: _RequestSection, folder: Path) -> tuple[Request, ...]:
    if not section.source:
        return (_request(section, folder),)
    expect = _expectation(section.expect, folder)
    return tuple(replace(each, expect=expect) for each in requests_from(folder / section.source, section.only or ()))


def _request(section: _RequestSection, folder: Path) -> Request:
    setup = tuple(step_of(each, folder, each.take) for each in section.setup)
    return Request(_name(section), step_of(section, folder), setup, _expectation(section.expect, folder))


def _expectation(section: _ExpectSection, folder: Path) -> Expectation:
    expect = given(section)
    if name := section.function:
        expect["function"] = OracleFunction(
            name, digest_of(function_file(name, folder)), check=named_function(name, folder)
        )
    return Expectation(**expect)

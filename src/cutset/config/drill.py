"""The `drill` section of `cutset.yaml`. Drills need nothing else of that file: no target, no requests, no mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import with_config

from cutset.config.yaml import STRICT, read_yaml, validate
from cutset.drill.settings import PORT, DrillSettings, Pace, Selection, ServiceUnderTest
from cutset.errors import UsageError
from cutset.model.drill import Thresholds
from cutset.model.expect import Expect, Name, NotNegative, Positive, Seconds, is_url

Ratio = Annotated[float, Expect("a share from 0 to 1", lambda share: 0 <= share <= 1)]
Factor = Annotated[float, Expect("a factor from 1 on", lambda factor: 1 <= factor < float("inf"))]
Rate = Annotated[float, Expect("requests per second above 0, at most 10000", lambda rate: 0 < rate <= 10_000)]
Pause = Annotated[float, Expect("seconds from 0 to 3600", lambda seconds: 0 <= seconds <= 3600)]
Days = Annotated[float, Expect("days from 0 on", lambda days: 0 <= days < float("inf"))]
ReadyUrl = Annotated[
    str, Expect(f"a URL such as `http://127.0.0.1:{PORT}/health`", lambda text: is_url(text.replace(PORT, "1")))
]


def load_drill(path: Path) -> DrillSettings:
    content = read_yaml(path)
    if "drill" not in content:
        raise UsageError(
            f"`{path}` has no section `drill`", hint="It needs at least `drill.command`, which starts the service"
        )
    section = validate(path, _File, {"drill": content["drill"]}).drill
    if not any(PORT in text for text in (*section.command, *(section.env or {}).values())):
        raise UsageError(
            f"`{path}`: neither `drill.command` nor `drill.env` has `{PORT}` in it",
            hint="The service is started on a port that is free, another one each time, and has to be told: "
            f"`command: [python, -m, shop, --port, '{PORT}']`",
        )
    return replace(_settings(path.parent, section), path=path.absolute())


def adjusted(
    settings: DrillSettings,
    *,
    recording: Path | None = None,
    only: Sequence[str] = (),
    faults: Sequence[str] = (),
    seed: int | None = None,
) -> DrillSettings:
    """What the command line says wins over the file."""
    selection = settings.selection
    return replace(
        settings,
        recording=recording or settings.recording,
        selection=replace(
            selection,
            only=tuple(only),
            faults=tuple(faults) or selection.faults,
            seed=selection.seed if seed is None else seed,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Phases:
    startup: Seconds | None = None
    fault: Seconds | None = None
    recovery: Seconds | None = None
    patience: Pause | None = None
    rate: Rate | None = None
    parallel: Positive | None = None


@dataclass(frozen=True, slots=True)
class _Thresholds:
    startup_success: Ratio | None = None
    recovery_success: Ratio | None = None
    latency_factor: Factor | None = None
    latency_slack: Pause | None = None
    recovery_throughput: Ratio | None = None
    recovery_operations: Ratio | None = None
    limit_seconds: Seconds | None = None
    amplification_factor: Factor | None = None
    amplification_floor: Positive | None = None
    must_survive: tuple[Literal["cache", "db", "mq", "rpc"], ...] | None = None


@dataclass(frozen=True, slots=True)
class _Section:
    command: Annotated[tuple[str, ...], Expect("a command as a list of words", len)]
    ready_url: ReadyUrl | None = None
    ready_line: Name | None = None
    env: Mapping[str, str] | None = None
    folder: Name | None = None
    start_seconds: Seconds | None = None
    recording: Name | None = None
    phases: _Phases = _Phases()
    thresholds: _Thresholds = _Thresholds()
    classes: Mapping[str, _Thresholds] = field(default_factory=dict)
    faults: tuple[Name, ...] | None = None
    top: Positive | None = None
    services_each: Positive | None = None
    seed: NotNegative | None = None
    expire_days: Days | None = None
    tests_per_start: Positive | None = None


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _File:
    drill: _Section


def _settings(folder: Path, section: _Section) -> DrillSettings:
    """Folders are relative to the file."""
    given = _given(section)
    thresholds = Thresholds(**_given(section.thresholds))
    return DrillSettings(
        service=ServiceUnderTest(**_those_of(ServiceUnderTest, given) | {"folder": folder / (section.folder or ".")}),
        pace=Pace(**_given(section.phases)),
        thresholds=thresholds,
        classes={name: replace(thresholds, **_given(own)) for name, own in section.classes.items()},
        selection=Selection(**_those_of(Selection, given)),
        recording=folder / (section.recording or "recording"),
        **{name: given[name] for name in ("expire_days", "tests_per_start") if name in given},
    )


def _given(section: object) -> dict[str, Any]:
    return {name: value for name in get_type_hints(type(section)) if (value := getattr(section, name)) is not None}


def _those_of(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: values[each.name] for each in fields(kind) if each.name in values}

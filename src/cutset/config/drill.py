"""The `drill` section of `cutset.yaml`. Drills need nothing else of that file: no target, no requests, no mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import with_config

from cutset.config.yaml import STRICT, given, problem, read_yaml, validate
from cutset.drill.settings import PORT, DrillSettings, Pace, Selection, ServiceUnderTest
from cutset.errors import UsageError
from cutset.guards.settings import GuardSettings
from cutset.model.drill import DEFAULT_THRESHOLDS, Thresholds
from cutset.model.expect import Days, Expect, Name, NotNegative, Positive, Seconds, is_url

ReadyUrl = Annotated[
    str, Expect(f"a URL such as `http://127.0.0.1:{PORT}/health`", lambda text: is_url(text.replace(PORT, "1")))
]


def load_drill(path: Path) -> DrillSettings:
    content = read_yaml(path)
    if "drill" not in content:
        raise UsageError(
            f"`{path}` has no section `drill`", hint="It needs at least `drill.command`, which starts the service"
        )
    guards = {"guards": content["guards"]} if "guards" in content else {}
    found = validate(path, _File, {"drill": _with_thresholds(content["drill"])} | guards)
    return replace(_settings(path.parent, found.drill), guards=found.guards, path=path.absolute())


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
class _Section:
    command: Annotated[tuple[str, ...], Expect("a command as a list of words", len)]
    ready_url: ReadyUrl | None = None
    ready_line: Name | None = None
    env: Mapping[str, str] | None = None
    folder: Name | None = None
    start_seconds: Seconds | None = None
    recording: Name | None = None
    phases: Pace = field(default_factory=Pace)
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    classes: Mapping[str, Thresholds] = field(default_factory=dict)
    faults: tuple[Name, ...] | None = None
    top: Positive | None = None
    services_each: Positive | None = None
    seed: NotNegative | None = None
    expire_days: Days | None = None
    tests_per_start: Positive | None = None

    def __post_init__(self) -> None:
        if not any(PORT in text for text in (*self.command, *(self.env or {}).values())):
            told = "the service is started on a free port, another one each time, and has to be told"
            raise problem(f"neither `command` nor `env` has `{PORT}` in it, but {told}")


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _File:
    drill: _Section
    guards: GuardSettings = field(default_factory=GuardSettings)


def _with_thresholds(section: Any) -> Any:
    """Each class with the thresholds that hold for all of them, where it has none of its own."""
    match section:
        case {"thresholds": dict(shared), "classes": dict(classes)}:
            merged = {name: {**shared, **own} if isinstance(own, dict) else own for name, own in classes.items()}
            return section | {"classes": merged}
    return section


def _settings(folder: Path, section: _Section) -> DrillSettings:
    """Folders are relative to the file."""
    known = given(section)
    return DrillSettings(
        service=ServiceUnderTest(**_those_of(ServiceUnderTest, known) | {"folder": folder / (section.folder or ".")}),
        pace=section.phases,
        thresholds=section.thresholds,
        classes=section.classes,
        selection=Selection(**_those_of(Selection, known)),
        recording=folder / (section.recording or "recording"),
        **{name: known[name] for name in ("expire_days", "tests_per_start") if name in known},
    )


def _those_of(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: values[each.name] for each in fields(kind) if each.name in values}

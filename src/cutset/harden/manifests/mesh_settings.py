"""Advice as settings of services in mesh.yaml, put into its text so that everything else stays as it is."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from cutset.errors import InputError
from cutset.harden.remedies.advice import Advice
from cutset.harden.remedies.evidence import Evidence, safe_to_repeat
from cutset.harden.remedies.timeout import seconds_for
from cutset.model.point import Point

_NEED_SAFETY = ("retries", "retry_budget_percent", "hedge_after_seconds")

Settings = dict[str, dict[str, Any]]  # by service


@dataclass(frozen=True, slots=True)
class Merged:
    text: str
    added: tuple[str, ...]  # `service.setting: value`
    kept: tuple[str, ...]  # what was there and differs, and so stays


def mesh_settings(
    advice: Mapping[Point, Sequence[Advice]], known: Mapping[Point, Evidence]
) -> tuple[Settings, list[str]]:
    """By service, and what is left out: in mesh.yaml settings hold for a whole service, so all its APIs must agree."""
    settings: Settings = {}
    left_out: list[str] = []
    for site, given in sorted(advice.items()):
        service = settings.setdefault(site.service, {})
        for name, value in (item for each in given for item in each.settings.items()):
            if name == "fallback":
                service["fallback"] = service.get("fallback", {}) | value
            else:
                service[name] = max(service.get(name, value), value)
    for name, service in settings.items():
        apis = [each for point, each in known.items() if point.service == name]
        left_out += [f"{name}.{setting}: {why}" for setting, why in _narrow(service, apis)]
    return {name: service for name, service in settings.items() if service}, left_out


def _narrow(service: dict[str, Any], apis: Sequence[Evidence]) -> Iterator[tuple[str, str]]:
    """Takes out, or changes, what does not fit every API of the service."""
    if "timeout_seconds" in service:
        times = {each.site.api: seconds_for(each) for each in apis}
        if unknown := [api for api, seconds in times.items() if seconds is None]:
            del service["timeout_seconds"]
            yield "timeout_seconds", f"it would hold for {', '.join(unknown)} too, whose latencies are not known"
        else:
            seconds = [each for each in times.values() if each is not None]
            service["timeout_seconds"] = max([service["timeout_seconds"], *seconds])
    unsafe = [each.site.api for each in apis if not safe_to_repeat(each)]
    for setting in _NEED_SAFETY:
        if setting in service and unsafe:
            del service[setting]
            yield setting, f"it would hold for {', '.join(unsafe)} too, which may not be safe to repeat"
    if service.get("hedge_after_seconds", 0) >= service.get("timeout_seconds", float("inf")):
        del service["hedge_after_seconds"]
        yield "hedge_after_seconds", "it is not shorter than the timeout"


def merge_settings(text: str, settings: Settings) -> Merged:
    """The text of a mesh.yaml, or of a cutset.yaml with a `mesh` section, with these settings added."""
    root, content = yaml.compose(text, yaml.SafeLoader), yaml.safe_load(text)
    if isinstance(content, dict) and "mesh" in content:
        root, content = _entry(root, "mesh"), content["mesh"]
    services = _entry(root, "services")
    insertions: dict[int, list[str]] = {}
    added: list[str] = []
    kept: list[str] = []
    for name, wanted in settings.items():
        node = _entry(services, name)
        if not isinstance(node, yaml.MappingNode):
            raise InputError(f"The mesh has no service `{name}`", hint="Name services there as in the findings")
        for path, value, target, existing in _differences(wanted, content["services"][name], node, name):
            if target is None:
                kept.append(f"{path} is {json.dumps(existing)}, and would be {json.dumps(value)}")
                continue
            place, entry = _insertion(target, path.rpartition(".")[2], value)
            insertions.setdefault(place, []).append(entry)
            added.append(f"{path}: {json.dumps(value)}")
    for place in sorted(insertions, reverse=True):  # from the end, so that places stay right
        text = text[:place] + "".join(insertions[place]) + text[place:]
    return Merged(text, tuple(added), tuple(kept))


def _differences(
    wanted: Mapping[str, Any], existing: Mapping[str, Any], node: yaml.MappingNode, path: str
) -> Iterator[tuple[str, Any, yaml.MappingNode | None, Any]]:
    """Path, wanted value, and the node that lacks it; or none, and the value that is there."""
    for name, value in wanted.items():
        inner = _entry(node, name)
        if name not in existing:
            yield f"{path}.{name}", value, node, None
        elif isinstance(value, dict) and isinstance(existing[name], dict) and isinstance(inner, yaml.MappingNode):
            yield from _differences(value, existing[name], inner, f"{path}.{name}")
        elif existing[name] != value:
            yield f"{path}.{name}", value, None, existing[name]


def _entry(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == name), None)
    return None


def _insertion(node: yaml.MappingNode, name: str, value: Any) -> tuple[int, str]:
    """Where to put an entry, and its text: JSON is YAML, on one line."""
    entry = f"{json.dumps(name) if not name.isidentifier() else name}: {json.dumps(value)}"
    if node.flow_style:
        return node.start_mark.index + 1, entry + (", " if node.value else "")
    return node.start_mark.index, f"{entry}\n{' ' * node.start_mark.column}"

"""Settings of services put into the text of a mesh.yaml, so that everything else stays as it is."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from cutset.errors import InputError
from cutset.manifests.bounded_yaml import BoundedLoader

MeshSettings = Mapping[str, Mapping[str, Any]]  # by service


@dataclass(frozen=True, slots=True)
class Merged:
    text: str
    added: tuple[str, ...]  # `service.setting: value`
    kept: tuple[str, ...]  # what was there and differs, and so stays


def merge_settings(text: str, settings: MeshSettings) -> Merged:
    """The text of a mesh.yaml, or of a cutset.yaml with a `mesh` section, with these settings added."""
    root, content = yaml.compose(text, BoundedLoader), yaml.load(text, BoundedLoader)  # noqa: S506 -- a SafeLoader
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

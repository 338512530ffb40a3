"""Writes manifests into a folder. What is there is merged with if both agree, and otherwise left alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cutset.errors import UsageError
from cutset.manifests.bounded_yaml import BoundedLoader
from cutset.manifests.istio import istio_problems, merged
from cutset.manifests.wanted import Manifest


@dataclass(frozen=True, slots=True)
class _Existing:
    file: Path
    content: Manifest
    rewritable: bool  # one document, without comments that would be lost


def write_manifests(folder: Path, manifests: Sequence[Manifest]) -> list[Path]:
    """All of them or none. Returns the files that were written."""
    existing = list(_existing(folder)) if folder.exists() else []
    planned: dict[Path, Manifest] = {}
    for ours in manifests:
        same = next((each for each in existing if _identity(each.content) == _identity(ours)), None)
        if same is None:
            file = folder / f"{ours['metadata']['name']}-{ours['kind'].lower()}.yaml"
            if file.exists():
                raise UsageError(f"`{file}` exists and holds something else", hint="Choose another folder")
            planned[file] = ours
        elif (result := _merged(same, ours)) != same.content:
            planned[same.file] = result
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in planned.items():
        file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return list(planned)


def _merged(same: _Existing, ours: Manifest) -> Manifest:
    """Its name may differ from ours; what it governs does not."""
    result, conflicts = merged(same.content, ours | {"metadata": {}, "apiVersion": same.content.get("apiVersion")})
    if conflicts:
        raise UsageError(
            f"`{same.file}` configures {ours['spec'].get('host') or ours['spec']['hosts'][0]} already, and differs: "
            + "; ".join(conflicts),
            hint="Nothing was written. Merge by hand, or write into another folder to compare",
        )
    if result != same.content and not same.rewritable:
        raise UsageError(
            f"`{same.file}` has comments or several documents, which a merge would lose",
            hint="Nothing was written. Write into another folder, and merge by hand",
        )
    if wrong := list(istio_problems(result)):
        raise UsageError(f"`{same.file}` would not be valid: {wrong[0]}", hint="Nothing was written")
    return dict(result)


def _identity(manifest: Manifest) -> tuple[str, frozenset[str]]:
    """What it governs: two resources of one kind for one host would compete."""
    spec: dict[str, Any] = manifest.get("spec") or {}
    hosts = spec.get("hosts") or [spec.get("host")]
    return str(manifest.get("kind")), frozenset(str(host).partition(".")[0] for host in hosts)


def _existing(folder: Path) -> Iterator[_Existing]:
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        text = file.read_text()
        try:
            documents = [each for each in yaml.load_all(text, BoundedLoader) if isinstance(each, dict)]
        except (yaml.YAMLError, ValueError) as error:
            raise UsageError(f"`{file}` is not YAML that can be read: {error}", hint="Choose another folder") from error
        commented = any(line.lstrip().startswith("#") or " #" in line for line in text.splitlines())
        for content in documents:
            yield _Existing(file, content, rewritable=len(documents) == 1 and not commented)

"""Puts resources of ours into a cluster and takes them away, and tells what that changed."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from cutset.errors import TargetError, UsageError
from cutset.inject.istio.marks import is_ours
from cutset.inject.istio.mesh_config import MARK, by_hand, owner_of, with_entry, without_entry
from cutset.kubernetes.client import FIELD_MANAGER, Cluster, ConflictError
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource

_OF_THE_SERVER = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid")
_TRIES = 5  # at a resource that others write to at the same time
_ENDING_SECONDS = 120  # a namespace goes when all that is in it has gone
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Applied:
    resource: str  # `EnvoyFilter shop/cutset-shop`
    change: str  # created | changed | same | removed


async def apply_resource(cluster: Cluster, resource: Resource, *, dry_run: bool = False) -> Applied:
    """Raises UsageError if somebody else made what is there."""
    before = await _unless_ending(cluster, resource)
    if before is not None and not is_ours(before):
        raise UsageError(
            f"{named(resource)} is there and was not made by Cutset", hint="Rename or remove it, then install again"
        )
    if before is None and dry_run and not await _has_namespace(cluster, resource):
        return Applied(named(resource), "created")  # the server refuses to try what has no namespace yet
    after = await cluster.apply(resource, dry_run=dry_run)
    if before is None:
        return Applied(named(resource), "created")
    return Applied(named(resource), "same" if _content(before) == _content(after) else "changed")


async def _unless_ending(cluster: Cluster, resource: Resource) -> Resource | None:
    """What is there; if it is about to go, as our namespace is right after an `uninstall`, when that is over."""
    metadata, waited = resource["metadata"], 0.0
    while found := await cluster.get(resource["kind"], metadata["name"], metadata.get("namespace", "")):
        if not found["metadata"].get("deletionTimestamp"):
            return found
        if waited >= _ENDING_SECONDS:
            raise TargetError(
                f"{named(resource)} is being deleted, and that does not end",
                hint=f"`kubectl get {resource['kind'].lower()} {metadata['name']} -o yaml` says what it waits for",
            )
        await asyncio.sleep(_POLL_SECONDS)
        waited += _POLL_SECONDS
    return None


async def remove_resource(cluster: Cluster, resource: Resource) -> Applied | None:
    """None if it was gone already."""
    return Applied(named(resource), "removed") if await cluster.delete(resource) else None


def refuse_foreign_mesh_config(configs: Iterable[Resource], entries: Sequence[Resource], *, force: bool) -> None:
    """Before anything is applied. Who wrote MeshConfig with Helm or the like would undo our change, or trip over it."""
    for config in configs:
        text = _mesh(config)
        missing = [entry for entry in entries if with_entry(text, entry) != text]
        if missing and not force and (owner := owner_of(config)):
            raise UsageError(
                f"MeshConfig ({named(config)}) belongs to {owner}, which would undo a change of ours",
                hint=f"{by_hand(*missing)}\nOr let Cutset change it all the same, with `--force-meshconfig`",
            )


async def add_providers(
    cluster: Cluster, config: Resource, entries: Sequence[Resource], *, dry_run: bool = False
) -> Applied:
    """Read, changed and written back, as often as others write at the same time."""
    for tries_left in reversed(range(_TRIES)):
        changed = reduce(with_entry, entries, _mesh(config))
        if changed == _mesh(config) or dry_run:
            return Applied(named(config), "same" if changed == _mesh(config) else "changed")
        try:
            await cluster.replace(_with_mesh(config, changed))
        except ConflictError:
            if not tries_left:
                raise
            config = await _again(cluster, config)
        else:
            return Applied(named(config), "changed")
    raise AssertionError("the last try returns or raises")


async def remove_provider(cluster: Cluster, config: Resource, name: str) -> Applied | None:
    """None if there was nothing of ours."""
    if MARK not in _mesh(config) or without_entry(_mesh(config), name) == _mesh(config):
        return None
    for tries_left in reversed(range(_TRIES)):
        try:
            left = await cluster.replace(_with_mesh(config, without_entry(_mesh(config), name)))
            if MARK not in _mesh(left):
                await cluster.replace(_disowned(left))
        except ConflictError:
            if not tries_left:
                raise
            config = await _again(cluster, config)
        else:
            break
    return Applied(named(config), "changed")


async def _again(cluster: Cluster, config: Resource) -> Resource:
    metadata = config["metadata"]
    found = await cluster.get("ConfigMap", metadata["name"], metadata["namespace"])
    if found is None:
        raise UsageError(f"{named(config)} is gone", hint="Is somebody else changing Istio at this moment?")
    return found


async def _has_namespace(cluster: Cluster, resource: Resource) -> bool:
    namespace = resource["metadata"].get("namespace", "")
    return not namespace or await cluster.get("Namespace", namespace) is not None


def _mesh(config: Resource) -> str:
    return str((config.get("data") or {}).get("mesh", ""))


def _with_mesh(config: Resource, text: str) -> Resource:
    return {**config, "data": {**(config.get("data") or {}), "mesh": text}}


def _disowned(resource: Resource) -> Resource:
    """Without a word that we ever wrote to it."""
    fields = resource["metadata"].get("managedFields", [])
    left = [each for each in fields if each.get("manager") != FIELD_MANAGER]
    return {**resource, "metadata": {**resource["metadata"], **({"managedFields": left} if fields else {})}}


def _content(resource: Resource) -> dict[str, Any]:
    metadata = {name: text for name, text in resource["metadata"].items() if name not in _OF_THE_SERVER}
    return {**{name: part for name, part in resource.items() if name != "status"}, "metadata": metadata}

"""Everything that a cluster holds, so that two moments can be compared: what an installation leaves behind."""

import json
import time

from benchmarks.istio.ground import Ground
from cluster.api import ApiError, Resource

# What changes by itself, whoever does what.
VOLATILE_KINDS = {"Event", "Lease", "EndpointSlice", "Endpoints", "ComponentStatus"}
VOLATILE_FIELDS = {"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"}
TRIES = 60
Snapshot = dict[str, str]  # what it is called → what it says


def snapshot(at: Ground) -> Snapshot:
    found: Snapshot = {}
    for group in ("/api/v1", *_groups(at)):
        for kind in at.api.get(group)["resources"]:
            if "list" in kind["verbs"] and "/" not in kind["name"] and kind["kind"] not in VOLATILE_KINDS:
                for item in _listed(at, f"{group}/{kind['name']}"):
                    metadata = item["metadata"]
                    found[f"{kind['kind']} {metadata.get('namespace', '')}/{metadata['name']}"] = _said(item)
    return found


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    return sorted(
        [f"new: {name}" for name in after.keys() - before.keys()]
        + [f"gone: {name}" for name in before.keys() - after.keys()]
        + [f"changed: {name}" for name in before.keys() & after.keys() if before[name] != after[name]]
    )


def _listed(at: Ground, path: str) -> list[Resource]:
    """An API server that has just got to know a kind asks for patience."""
    for _ in range(TRIES):
        try:
            items: list[Resource] = at.api.get(path)["items"]
        except ApiError as error:
            if error.code != 429:
                raise
            time.sleep(1)
        else:
            return items
    raise SystemExit(f"{path}: the API server is still busy after {TRIES} s")


def _groups(at: Ground) -> list[str]:
    return [f"/apis/{each['preferredVersion']['groupVersion']}" for each in at.api.get("/apis")["groups"]]


def _said(item: Resource) -> str:
    """Without its status, and with whether any field of it is ours."""
    metadata = {name: value for name, value in item["metadata"].items() if name not in VOLATILE_FIELDS}
    ours = any(each.get("manager") == "cutset" for each in item["metadata"].get("managedFields", ()))
    rest = {name: value for name, value in item.items() if name not in ("metadata", "status")}
    return json.dumps([metadata, rest, ours], sort_keys=True)

"""An API server's promises about resources, as far as a hardening relies on them; the real one is in tests/istio."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from cutset.kubernetes.client import Cluster, ConflictError
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource

OWNED = {"managedFields": [{"manager": "helm", "operation": "Update", "fieldsV1": {"f:spec": {"f:http": {}}}}]}


@dataclass
class ClusterInMemory:
    resources: dict[str, Resource] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    on_write: Callable[[Resource], None] = lambda _: None
    _version: int = 0

    @property
    def cluster(self) -> Cluster:
        return cast("Cluster", self)

    def add(self, kind: str, name: str, spec: dict[str, Any], namespace: str = "shop", **metadata: Any) -> Resource:
        whole = {"name": name, "namespace": namespace, **metadata}
        return self._kept({"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": whole, "spec": spec})

    def content(self) -> dict[str, Resource]:
        """As far as its writers decide about it."""
        found = deepcopy(self.resources)
        for each in found.values():
            del each["metadata"]["resourceVersion"]
        return found

    async def get(self, kind: str, name: str, namespace: str = "") -> Resource | None:
        return deepcopy(self.resources.get(f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"))

    async def list(self, kind: str, namespace: str = "", labels: Mapping[str, str] | None = None) -> list[Resource]:
        return [
            deepcopy(each)
            for each in self.resources.values()
            if each["kind"] == kind
            and namespace in ("", each["metadata"].get("namespace"))
            and (labels or {}).items() <= each["metadata"].get("labels", {}).items()
        ]

    async def apply(self, resource: Resource, *, dry_run: bool = False) -> Resource:
        return resource if dry_run else self._written(resource)

    async def replace(self, resource: Resource, *, dry_run: bool = False) -> Resource:
        current = self.resources.get(named(resource))
        if current is None or current["metadata"]["resourceVersion"] != resource["metadata"]["resourceVersion"]:
            raise ConflictError(f"{named(resource)}: the object has been modified")
        if dry_run:
            return resource
        if current["spec"] != resource["spec"]:  # the whole list is then the writer's
            resource = {**resource, "metadata": {**resource["metadata"], "managedFields": [{"manager": "cutset"}]}}
        return self._written(resource)

    async def delete(self, resource: Resource, *, unchanged: bool = False) -> bool:
        assert unchanged
        self.writes.append(f"delete {named(resource)}")
        return self.resources.pop(named(resource), None) is not None

    def _written(self, resource: Resource) -> Resource:
        self.writes.append(named(resource))
        self.on_write(resource)
        return self._kept(resource)

    def _kept(self, resource: Resource) -> Resource:
        self._version += 1
        whole = deepcopy(resource)
        whole["metadata"]["resourceVersion"] = str(self._version)
        self.resources[named(whole)] = whole
        return deepcopy(whole)

"""Changes in a laboratory's cluster that are taken back when they have been seen."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml
from cluster.api import Api

Resource = dict[str, Any]
_SERVERS_OWN = ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation", "deletionTimestamp")
PATIENCE = 60  # seconds until what was deleted is gone


def resource(kind: str, name: str, spec: Resource, version: str, namespace: str = "shop", **metadata: Any) -> Resource:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": spec,
    }


def pod(name: str, labels: dict[str, str], annotations: dict[str, str] | None = None, **spec: Any) -> Resource:
    """One that nothing ever starts: it waits for a node that has what no node has."""
    container = {"name": "app", "image": "laboratory/machine", "command": ["sleep", "infinity"]}
    waiting = {"nodeSelector": {"laboratory": "nowhere"}, "schedulerName": "nobody", "serviceAccountName": "backend"}
    whole = {"containers": [container], **waiting, **spec}
    return resource("Pod", name, whole, "v1", labels=labels, annotations=annotations or {})


@dataclass
class Breakage:
    api: Api
    namespace: str
    _before: dict[str, Resource | None] = field(default_factory=dict)  # by address

    def __enter__(self) -> "Breakage":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for address, before in reversed(self._before.items()):
            self._restore(address, before)
        self._before.clear()

    def apply(self, *resources: Resource) -> None:
        for each in resources:
            self._remember(self.api.address(each))
            self.api.apply(each)

    def change(self, address: str, change: Resource) -> None:
        self._remember(address)
        self.api.call("PATCH", address, change, "application/merge-patch+json")

    def delete(self, address: str) -> None:
        self._remember(address)
        self._delete(address)

    def stranger(self, resources: Sequence[str]) -> Path:
        """The kubeconfig of an account that may read these in the namespace, and nothing else."""
        rbac = "rbac.authorization.k8s.io"
        rules = [{"apiGroups": [""], "resources": list(resources), "verbs": ["get", "list"]}]
        named = {"name": "stranger", "namespace": self.namespace}
        subjects = [{"kind": "ServiceAccount", **named}]
        reference = {"apiGroup": rbac, "kind": "Role", "name": "stranger"}
        self.apply(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named},
            {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": named, "rules": rules},
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "RoleBinding",
                "metadata": named,
                "subjects": subjects,
                "roleRef": reference,
            },
        )
        return account_kubeconfig(self.api, self.namespace, "stranger")

    def _remember(self, address: str) -> None:
        self._before.setdefault(address, self.api.find(address))

    def _delete(self, address: str) -> None:
        self.api.call("DELETE", f"{address}?gracePeriodSeconds=0")
        deadline = time.monotonic() + PATIENCE
        while self.api.find(address) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _restore(self, address: str, before: Resource | None) -> None:
        now = self.api.find(address)
        if before is None:
            if now:
                self._delete(address)
            return
        kept = {name: value for name, value in before["metadata"].items() if name not in _SERVERS_OWN}
        again = {**before, "metadata": kept}
        again.pop("status", None)
        if now is None:
            self.api.call("POST", address.rpartition("/")[0], again)
        else:
            again["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"]
            self.api.call("PUT", address, again)


def account_kubeconfig(api: Api, namespace: str, account: str) -> Path:
    """Beside the administrator's, for a ServiceAccount that is there."""
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    answer = api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", request)
    content = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    content["users"] = [
        {"name": each["name"], "user": {"token": answer["status"]["token"]}} for each in content["users"]
    ]
    file = Path(os.environ["CLUSTER_RUN"]) / f"kubeconfig-{account}"
    file.write_text(json.dumps(content))
    return file

"""What a pod's containers are given: volumes as folders, and variables, with what the API server knows put in."""

import base64
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from cluster.api import Api, Resource
from cluster.network import BRIDGE_ADDRESS, pod_namespace
from cluster.processes import Place

NODE = "node-1"
_UNITS = {"m": 0.001, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 10**3, "M": 10**6, "G": 10**9}
_NODE_HAS = {"cpu": str(os.cpu_count()), "memory": "2Gi"}


class NotYetError(Exception):
    """A pod asks for something that is not there: it has to wait, as in every cluster."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod and where it is in the laboratory."""

    place: Place
    api: Api
    resource: Resource
    address: str

    @property
    def namespace(self) -> str:
        return str(self.resource["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.resource["metadata"]["name"])

    @property
    def spec(self) -> Resource:
        return dict(self.resource["spec"])

    @property
    def network(self) -> str:
        return pod_namespace(self.namespace, self.name)

    @property
    def folder(self) -> Path:
        return self.place.run / "volatile/pods" / str(self.resource["metadata"]["uid"])

    @property
    def hosts(self) -> Path:
        return self.place.run / "volatile/hosts" / self.namespace

    def path(self, rest: str = "") -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}{rest}"


def write_volumes(pod: Pod) -> dict[str, Path]:
    """Where each volume of the pod is; what is in it is written once."""
    places = {}
    for volume in pod.spec.get("volumes") or []:
        name = volume["name"]
        if "hostPath" in volume:
            places[name] = Path(volume["hostPath"]["path"])
            continue
        places[name] = folder = pod.folder / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
        sources = volume["projected"]["sources"] if "projected" in volume else [volume]
        for source in sources:
            for path, content in _files(pod, source).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
    return places


def _files(pod: Pod, source: Resource) -> dict[str, bytes]:
    if token := source.get("serviceAccountToken"):
        return {token["path"]: _token(pod, token)}
    if fields := source.get("downwardAPI"):
        return {each["path"]: _field(pod, each["fieldRef"]["fieldPath"]).encode() for each in fields.get("items") or []}
    for kind in ("configMap", "secret"):
        if about := source.get(kind):
            name = about.get("name") or about["secretName"]
            data = _data(pod, kind, name, optional=about.get("optional", False))
            if items := about.get("items"):
                return {each["path"]: data[each["key"]] for each in items if each["key"] in data}
            return data
    return {}


def _token(pod: Pod, about: Resource) -> bytes:
    spec = {
        "expirationSeconds": about.get("expirationSeconds", 3600),
        "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": pod.name, "uid": pod.resource["metadata"]["uid"]},
        **({"audiences": [about["audience"]]} if "audience" in about else {}),
    }
    account = f"/api/v1/namespaces/{pod.namespace}/serviceaccounts/{pod.spec['serviceAccountName']}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return str(pod.api.call("POST", account, request)["status"]["token"]).encode()


def _data(pod: Pod, kind: str, name: str, *, optional: bool) -> dict[str, bytes]:
    found = pod.api.find(f"/api/v1/namespaces/{pod.namespace}/{kind.lower()}s/{name}")
    if found is None and not optional:
        raise NotYetError(f"there is no {kind} {name} in {pod.namespace}")
    plain, encoded = ("data", "binaryData") if kind == "configMap" else ("", "data")
    texts = ((found or {}).get(plain) or {}).items()
    blobs = ((found or {}).get(encoded) or {}).items()
    return {key: value.encode() for key, value in texts} | {key: base64.b64decode(value) for key, value in blobs}


def _field(pod: Pod, path: str) -> str:
    """The downward API."""
    known = {
        "status.podIP": pod.address,
        "status.podIPs": pod.address,
        "status.hostIP": BRIDGE_ADDRESS,
        "spec.nodeName": NODE,
    }
    if path in known:
        return known[path]
    if match := re.fullmatch(r"metadata\.(labels|annotations)(?:\['(.*)'\])?", path):
        values = pod.resource["metadata"].get(match[1]) or {}
        return (
            str(values.get(match[2], "")) if match[2] else "".join(f"{k}={json.dumps(v)}\n" for k, v in values.items())
        )
    value: object = pod.resource
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, dict) else ""
    return str(value)


def variables(pod: Pod, container: Resource) -> dict[str, str]:
    known: dict[str, str] = {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
        "HOSTNAME": pod.name,
    }
    for source in container.get("envFrom") or []:
        for kind, reference in (("configMap", "configMapRef"), ("secret", "secretRef")):
            if about := source.get(reference):
                data = _data(pod, kind, about["name"], optional=about.get("optional", False))
                known |= {source.get("prefix", "") + key: value.decode() for key, value in data.items()}
    for each in container.get("env") or []:
        value = (
            _value(pod, container, each["valueFrom"]) if "valueFrom" in each else expand(each.get("value", ""), known)
        )
        if value is not None:
            known[each["name"]] = value
    return known


def _value(pod: Pod, container: Resource, source: Resource) -> str | None:
    if "fieldRef" in source:
        return _field(pod, source["fieldRef"]["fieldPath"])
    if about := source.get("resourceFieldRef"):
        bound, _, resource = about["resource"].partition(".")
        amount = container.get("resources", {}).get(bound, {}).get(resource) or _NODE_HAS[resource]
        return str(max(1, round(_quantity(amount) / _quantity(about.get("divisor", "1") or "1"))))
    kind, about = next((kind[:-6], about) for kind, about in source.items())  # configMapKeyRef, secretKeyRef
    optional = about.get("optional", False)
    data = _data(pod, kind, about["name"], optional=optional)
    if about["key"] not in data and not optional:
        raise NotYetError(f"{kind} {about['name']} has no key {about['key']}")
    return data[about["key"]].decode() if about["key"] in data else None


def _quantity(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text).groups()  # type: ignore[union-attr]
    return float(number) * (_UNITS[unit] if unit and unit != "0" else 1)


def expand(text: str, known: dict[str, str]) -> str:
    """$(NAME), as Kubernetes has it in values and arguments: what is not known stays as it is."""
    return re.sub(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)", lambda match: known.get(match[1], match[0]), text)

"""What says of a resource that it is ours: labels, an annotation with its version, and on one what was asked for.

A version is a hash of the resource's own content, so that whoever reads it back can tell whether it is what this Cutset
would make today.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from cutset import __version__
from cutset.model.cluster import Resource

MANAGED_BY = "app.kubernetes.io/managed-by"
ENVIRONMENT = "cutset.dev/environment"
VERSION = "cutset.dev/version"
INSTALLATION = "cutset.dev/installation"
OURS: Mapping[str, str] = {MANAGED_BY: "cutset"}
COLLECTOR_NAMESPACE = "cutset"
PROVIDER = "cutset"  # of tracing, in MeshConfig
DEFAULT_IMAGE = f"cutset:{__version__}"
_VERSION_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Installation:
    """What was asked for: all that resources depend on, besides what is in the cluster."""

    environment: str
    namespaces: tuple[str, ...]
    public_key: bytes  # DER
    keep_tracing: bool = False
    strip_all: bool = False  # no plan at all comes in by gateways, not even of ours
    collector: str = ""  # `service.namespace.svc.cluster.local:4317` of another one than ours
    image: str = DEFAULT_IMAGE
    pull_policy: str = "IfNotPresent"
    trace_all: bool = False  # also requests of others: then calls that lose their context are seen
    marking: bool = False  # live requests may be marked at gateways, while an impact runs

    @property
    def name(self) -> str:
        return f"cutset-{self.environment}"

    @property
    def provider(self) -> str:
        """All environments share our collector; one with another collector has a provider of its own."""
        return self.name if self.collector else PROVIDER

    def to_json(self) -> str:
        return json.dumps(asdict(self) | {"public_key": base64.b64encode(self.public_key).decode()}, sort_keys=True)


def installation_in(resource: Resource) -> Installation | None:
    """What was asked for when this was installed, if this resource says so."""
    try:
        found = json.loads(annotation(resource, INSTALLATION))
        return Installation(
            **found | {"namespaces": tuple(found["namespaces"]), "public_key": base64.b64decode(found["public_key"])}
        )
    except (ValueError, KeyError, TypeError):
        return None


def annotation(resource: Resource, name: str) -> str:
    return str((resource["metadata"].get("annotations") or {}).get(name, ""))


def label(resource: Resource, name: str) -> str:
    return str((resource["metadata"].get("labels") or {}).get(name, ""))


def is_ours(resource: Resource) -> bool:
    return label(resource, MANAGED_BY) == OURS[MANAGED_BY]


def digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_VERSION_DIGITS]


def marked(resource: Resource, environment: str = "", *, version: str = "", **annotations: str) -> Resource:
    """Without an environment: shared by all of them."""
    metadata = resource["metadata"]
    labels = {**metadata.get("labels", {}), **OURS, **({ENVIRONMENT: environment} if environment else {})}
    said = {**metadata.get("annotations", {}), **annotations, VERSION: version or digest(resource)}
    return {**resource, "metadata": {**metadata, "labels": labels, "annotations": said}}

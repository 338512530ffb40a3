"""Our collector in the cluster: a namespace of its own, one pod with a sidecar, and a Service for the mesh's spans.

What it relays (spans as they arrive, probes of other pods) it offers on its own loopback alone: whoever may forward a
port to that pod gets it, and nobody else. It has no right to the API, no secret and nothing on disk that stays.
"""

from collections.abc import Mapping

from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, OURS, Installation, marked
from cutset.model.cluster import Resource

COLLECTOR = "collector"
OTLP_PORT = 4317
RELAY_PORT = 4319
LABELS = {"app": "cutset-collector"}  # of its pods
_USER = 65532  # nobody in particular; not 1337, whose traffic Istio leaves alone
_PORTS = {"grpc": OTLP_PORT, "http": 4318}
_ANYWHERE = "0.0.0.0"  # noqa: S104 -- all addresses of the pod
_LISTEN = [word for name, port in _PORTS.items() for word in (f"--{name}-port", str(port))]
_COMMAND = ["cutset", "collect", "--host", _ANYWHERE, *_LISTEN, "--no-others", "--relay-port", str(RELAY_PORT)]
_NAMES = {"app.kubernetes.io/name": "cutset", "app.kubernetes.io/component": COLLECTOR}


def collector_resources(wanted: Installation, injection: Mapping[str, str]) -> list[Resource]:
    """`injection`: the label by which the application's namespace asks for sidecars, for one of the same revision."""
    within = {"namespace": COLLECTOR_NAMESPACE}
    resources = [
        _resource("v1", "ServiceAccount", {"name": COLLECTOR, **within}, automountServiceAccountToken=False),
        _resource("v1", "Service", {"name": COLLECTOR, **within}, spec=_service()),
        _resource("apps/v1", "Deployment", {"name": COLLECTOR, **within}, spec=_deployment(wanted)),
    ]
    return [our_namespace(injection), *(marked(each) for each in resources)]


def our_namespace(injection: Mapping[str, str]) -> Resource:
    return marked(_resource("v1", "Namespace", {"name": COLLECTOR_NAMESPACE, "labels": dict(injection)}))


def _resource(version: str, kind: str, metadata: Resource, **rest: object) -> Resource:
    labelled = {**metadata, "labels": {**metadata.get("labels", {}), **_NAMES}}
    return {"apiVersion": version, "kind": kind, "metadata": labelled, **rest}


def _service() -> Resource:
    ports = [
        {"name": f"{name}-otlp", "appProtocol": name, "protocol": "TCP", "port": port, "targetPort": port}
        for name, port in _PORTS.items()
    ]
    return {"selector": LABELS, "ports": ports}


def _deployment(wanted: Installation) -> Resource:
    return {
        "replicas": 1,  # whoever reads the stream reads all of it from one
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": {**LABELS, **_NAMES, **OURS}},
            "spec": {
                "serviceAccountName": COLLECTOR,
                "automountServiceAccountToken": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [_container(wanted)],
                "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}}],
            },
        },
    }


def _container(wanted: Installation) -> Resource:
    return {
        "name": COLLECTOR,
        "image": wanted.image,
        "imagePullPolicy": wanted.pull_policy,
        "command": _COMMAND,
        "ports": [{"name": f"{name}-otlp", "containerPort": port, "protocol": "TCP"} for name, port in _PORTS.items()],
        "readinessProbe": {"tcpSocket": {"port": OTLP_PORT}, "periodSeconds": 2},
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 -- of the container
    }

"""Tracing as a team may have it already: the real Jaeger as a Deployment, and Telemetry that sends all to it."""

from pathlib import Path

import yaml

from cluster.api import Api, Resource
from cluster.control_plane import named

NAMESPACE = "observability"
HOST = f"jaeger.{NAMESPACE}.svc.cluster.local"
PORTS = {"grpc-otlp": 4317, "http-otlp": 4318, "http-query": 16686}
PROVIDER: Resource = {"name": "jaeger", "opentelemetry": {"service": HOST, "port": PORTS["grpc-otlp"]}}  # of MeshConfig
CONFIGURATION: Resource = {
    "service": {
        "extensions": ["jaeger_storage", "jaeger_query"],
        "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["jaeger_storage_exporter"]}},
        "telemetry": {"metrics": {"level": "none"}},
    },
    "extensions": {
        "jaeger_storage": {"backends": {"memory": {"memory": {"max_traces": 100_000}}}},
        "jaeger_query": {
            "storage": {"traces": "memory"},
            "grpc": {"endpoint": "0.0.0.0:16685"},
            "http": {"endpoint": f"0.0.0.0:{PORTS['http-query']}"},
        },
    },
    "receivers": {
        "otlp": {
            "protocols": {
                "grpc": {"endpoint": f"0.0.0.0:{PORTS['grpc-otlp']}"},
                "http": {"endpoint": f"0.0.0.0:{PORTS['http-otlp']}"},
            }
        }
    },
    "exporters": {"jaeger_storage_exporter": {"trace_storage": "memory"}},
}


def jaeger(binaries: Path) -> list[Resource]:
    """Without a sidecar, as most have it: sidecars send to it in the clear."""
    container = {
        "name": "jaeger",
        "image": "laboratory/machine",
        "command": [str(binaries / "jaeger"), "--config", "/etc/jaeger/jaeger.yaml"],
        "env": [{"name": "OTEL_TRACES_SAMPLER", "value": "always_off"}],  # else it sends traces of itself to itself
        "ports": [{"name": name, "containerPort": port} for name, port in PORTS.items()],
        "readinessProbe": {"httpGet": {"path": "/", "port": PORTS["http-query"]}},
        "volumeMounts": [{"name": "configuration", "mountPath": "/etc/jaeger"}],
    }
    template = {
        "metadata": {"labels": {"app": "jaeger"}},
        "spec": {
            "serviceAccountName": "default",
            "containers": [container],
            "volumes": [{"name": "configuration", "configMap": {"name": "jaeger"}}],
        },
    }
    ports = [{"name": name, "port": port, "targetPort": port} for name, port in PORTS.items()]
    deployment = {"replicas": 1, "selector": {"matchLabels": {"app": "jaeger"}}, "template": template}
    return [
        named("Namespace", NAMESPACE),
        named("ConfigMap", "jaeger", NAMESPACE, data={"jaeger.yaml": yaml.safe_dump(CONFIGURATION)}),
        named("Service", "jaeger", NAMESPACE, spec={"selector": {"app": "jaeger"}, "ports": ports}),
        named("Deployment", "jaeger", NAMESPACE, "apps/v1", spec=deployment),
    ]


def everything_traced(namespace: str) -> Resource:
    """A team's own Telemetry: every request of the namespace is traced by their Jaeger."""
    tracing = [{"providers": [{"name": PROVIDER["name"]}], "randomSamplingPercentage": 100}]
    return named("Telemetry", "team", namespace, "telemetry.istio.io/v1", spec={"tracing": tracing})


def add_provider(api: Api) -> None:
    """To MeshConfig, beside those that are there."""
    found = api.get("/api/v1/namespaces/istio-system/configmaps/istio")
    mesh = yaml.safe_load(found["data"]["mesh"])
    others = [each for each in mesh.get("extensionProviders") or () if each["name"] != PROVIDER["name"]]
    found["data"]["mesh"] = yaml.safe_dump(mesh | {"extensionProviders": [*others, PROVIDER]})
    api.call("PUT", "/api/v1/namespaces/istio-system/configmaps/istio", found)

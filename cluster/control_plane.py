"""etcd, kube-apiserver, kube-controller-manager, and istiod with its injection webhook, all real."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import httpx
import yaml

from cluster.api import Api, Resource
from cluster.certificates import write_certificates
from cluster.network import BRIDGE_ADDRESS, CLUSTER_ADDRESSES
from cluster.processes import Place, spawn, wait_for

TOKEN = "laboratory-administrator"
KUBERNETES, ISTIO = "v1.36.3", "1.31.0"
API_PORT, KUBELET_PORT = 6443, 10250
CONTROLLERS = (
    "deployment-controller,replicaset-controller,statefulset-controller,job-controller,cronjob-controller,"
    "endpointslice-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,"
    "garbage-collector-controller,namespace-controller,pod-garbage-collector-controller"
)
# Filters that only Istio's own build of Envoy has: the unmodified Envoy refuses them. (The third, istio.stats, comes
# with the Helm chart's `defaultProviders.metrics`, which the mesh configuration below leaves out.)
VANILLA_ENVOY = {"PILOT_ENABLE_METADATA_EXCHANGE": "false", "PILOT_ENABLE_ALPN_FILTER": "false"}
MESH = {
    "trustDomain": "cluster.local",
    "accessLogFile": "",
    # One thread per proxy: there are dozens of them on one machine. Spans at once instead of every 5 s, and connections
    # that keep an old configuration end after 5 s instead of 45.
    "defaultConfig": {
        "concurrency": 1,
        "drainDuration": "5s",
        "runtimeValues": {"tracing.opentelemetry.flush_interval_ms": "20"},
    },
}


def start_kubernetes(place: Place) -> Api:
    certificates = place.run / "certificates"
    hosts = ["127.0.0.1", BRIDGE_ADDRESS, "10.96.0.1", "localhost", "kubernetes.default.svc"]
    write_certificates(certificates, hosts)
    (place.run / "tokens.csv").write_text(f"{TOKEN},administrator,administrator,system:masters\n")
    spawn(place, "etcd", [place.binaries / "etcd", "--data-dir", place.run / "volatile/etcd", "--unsafe-no-fsync"])
    tokens = certificates / "service-account.key"
    options = [
        "--etcd-servers=http://127.0.0.1:2379", f"--secure-port={API_PORT}", f"--advertise-address={BRIDGE_ADDRESS}",
        f"--service-cluster-ip-range={CLUSTER_ADDRESSES}", f"--tls-cert-file={certificates / 'server.crt'}",
        f"--tls-private-key-file={certificates / 'server.key'}", f"--cert-dir={place.run / 'apiserver'}",
        "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={tokens}",
        f"--service-account-signing-key-file={tokens}", "--authorization-mode=RBAC", "--allow-privileged=true",
        f"--token-auth-file={place.run / 'tokens.csv'}", "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={certificates / 'server.crt'}",
        f"--kubelet-client-key={certificates / 'server.key'}",
    ]  # fmt: skip
    spawn(place, "kube-apiserver", [place.binaries / "kube-apiserver", *options])
    config = _write_kubeconfig(place)
    api = Api.connect(f"https://127.0.0.1:{API_PORT}", TOKEN, certificates / "ca.crt")
    wait_for("kube-apiserver", lambda: _answers(api.client, "/readyz"), place.log("kube-apiserver"))
    manager = [
        f"--kubeconfig={config}", "--leader-elect=false", f"--controllers={CONTROLLERS}",
        f"--root-ca-file={certificates / 'ca.crt'}", f"--service-account-private-key-file={tokens}",
        f"--cert-dir={place.run / 'controller-manager'}",
    ]  # fmt: skip
    spawn(place, "kube-controller-manager", [place.binaries / "kube-controller-manager", *manager])
    return api


def _answers(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).status_code == 200
    except httpx.TransportError:
        return False


def _write_kubeconfig(place: Place) -> Path:
    path = place.run / "kubeconfig"
    server = {
        "server": f"https://127.0.0.1:{API_PORT}",
        "certificate-authority": str(place.run / "certificates/ca.crt"),
    }
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "laboratory",
        "clusters": [{"name": "laboratory", "cluster": server}],
        "users": [{"name": "administrator", "user": {"token": TOKEN}}],
        "contexts": [{"name": "laboratory", "context": {"cluster": "laboratory", "user": "administrator"}}],
    }  # fmt: skip
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)
    return path


def install_definitions(place: Place, api: Api) -> None:
    """The custom resources of Istio and of the Gateway API."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    names = []
    for file in ("crds.yaml", "gateway-api-crds.yaml"):
        for document in yaml.load_all((place.binaries / file).read_text(), Loader=loader):
            if document and document["kind"] == "CustomResourceDefinition":
                api.apply(document)
                names.append(document["metadata"]["name"])

    def established(name: str) -> bool:
        status = api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}").get("status", {})
        return any(
            each["type"] == "Established" and each["status"] == "True" for each in status.get("conditions") or []
        )

    wait_for("the custom resources", lambda: all(map(established, names)), place.log("kube-apiserver"))


def named(kind: str, name: str, namespace: str = "", version: str = "v1", **more: Any) -> Resource:
    """A resource's beginning; labels and annotations go into the metadata."""
    metadata: Resource = {"name": name} | ({"namespace": namespace} if namespace else {})
    for key in ("labels", "annotations"):
        if key in more:
            metadata[key] = more.pop(key)
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def start_istiod(place: Place, api: Api) -> None:
    api.apply(named("Namespace", "istio-system"), *_istiod_service(), *_injector(place))
    api.apply(named("ConfigMap", "istio", "istio-system", data={"mesh": yaml.safe_dump(MESH)}))
    env = {
        **os.environ, "POD_NAMESPACE": "istio-system", "POD_NAME": "istiod-0", "CLUSTER_ID": "Kubernetes",
        "ISTIOD_CUSTOM_HOST": BRIDGE_ADDRESS, "ENABLE_LEADER_ELECTION": "false", "PILOT_DEBOUNCE_AFTER": "50ms",
        "ENABLE_DEBUG_ENDPOINT_AUTH": "false", **VANILLA_ENVOY,
    }  # fmt: skip
    options = [f"--kubeconfig={place.run / 'kubeconfig'}", "--namespace=istio-system", "--clusterID=Kubernetes"]
    spawn(place, "istiod", [place.binaries / "pilot-discovery", "discovery", *options], env)
    with httpx.Client(base_url="http://127.0.0.1:8080", trust_env=False) as client:
        wait_for("istiod", lambda: _answers(client, "/ready"), place.log("istiod"))
    authority = "/api/v1/namespaces/istio-system/configmaps/istio-ca-root-cert"
    wait_for("istiod's certificate", lambda: api.find(authority), place.log("istiod"))
    api.apply(_webhook(api.get(authority)["data"]["root-cert.pem"]))


def _istiod_service() -> list[Resource]:
    """istiod runs beside the pods, not in one: a Service without selector leads to it."""
    ports = {"grpc-xds": 15010, "https-dns": 15012, "http-monitoring": 15014}
    spec = {"ports": [{"name": name, "port": port} for name, port in ports.items()]}
    spec["ports"].append({"name": "https-webhook", "port": 443, "targetPort": 15017})
    slices = [
        {"name": name, "port": port, "protocol": "TCP"} for name, port in {**ports, "https-webhook": 15017}.items()
    ]
    labels = {"kubernetes.io/service-name": "istiod", "endpointslice.kubernetes.io/managed-by": "laboratory"}
    endpoints = [{"addresses": [BRIDGE_ADDRESS], "conditions": {"ready": True}}]
    own = {"app": "istiod", "istio": "pilot", "istio.io/rev": "default"}
    return [
        named("Service", "istiod", "istio-system", spec=spec, labels=own),
        named(
            "EndpointSlice", "istiod", "istio-system", "discovery.k8s.io/v1", labels=labels,
            addressType="IPv4", endpoints=endpoints, ports=slices,
        ),
    ]  # fmt: skip


def _injector(place: Place) -> list[Resource]:
    """What Istio's chart would render: its templates as they are, and the values that they ask for."""
    values = yaml.safe_load((place.binaries / "injection-values.yaml").read_text())["_internal_defaults_do_not_set"]
    picked = {name: values[name] for name in ("global", "sidecarInjectorWebhook", "revision") if name in values}
    picked["pilot"] = {"cni": values.get("cni") or values["pilot"].get("cni", {}), "env": values.get("env", {})}
    picked["gateways"] = values.get("gateways", {})
    picked["global"] |= {"hub": "docker.io/istio", "tag": ISTIO}
    files = {"sidecar": "injection-template", "gateway": "gateway-injection-template", "kube-gateway": "kube-gateway"}
    config = {
        "defaultTemplates": ["sidecar"], "policy": "enabled", "alwaysInjectSelector": [], "neverInjectSelector": [],
        "template": "{{ Template_Version_And_Istio_Version_Mismatched_Check_Installation }}",
        "templates": {name: (place.binaries / f"{file}.yaml").read_text() for name, file in files.items()},
    }  # fmt: skip
    data = {"config": yaml.safe_dump(config), "values": json.dumps(picked)}
    return [named("ConfigMap", "istio-sidecar-injector", "istio-system", data=data)]


def _webhook(authority: str) -> Resource:
    """With the chart's selectors: a labelled namespace, or a labelled pod in one that says nothing."""
    common = {
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "clientConfig": {
            "url": f"https://{BRIDGE_ADDRESS}:15017/inject", "caBundle": base64.b64encode(authority.encode()).decode(),
        },
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
    }  # fmt: skip

    def selects(key: str, operator: str, *values: str) -> Resource:
        return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}

    namespaces = {
        "namespaceSelector": {"matchExpressions": [selects("istio-injection", "In", "enabled")]},
        "objectSelector": {"matchExpressions": [selects("sidecar.istio.io/inject", "NotIn", "false")]},
    }
    objects = {
        "namespaceSelector": {
            "matchExpressions": [selects(key, "DoesNotExist") for key in ("istio-injection", "istio.io/rev")]
        },
        "objectSelector": {
            "matchExpressions": [
                selects("sidecar.istio.io/inject", "In", "true"),
                selects("istio.io/rev", "DoesNotExist"),
            ]
        },
    }
    hooks = [
        {"name": "namespace.sidecar-injector.istio.io", **common, **namespaces},
        {"name": "object.sidecar-injector.istio.io", **common, **objects},
    ]
    labels = {"istio.io/rev": "default", "app": "sidecar-injector"}
    version = "admissionregistration.k8s.io/v1"
    return named("MutatingWebhookConfiguration", "istio-sidecar-injector", "", version, labels=labels, webhooks=hooks)

"""Marking of live requests at gateways: the resources for it. Pure: builds dictionaries and nothing else.

`cutset install --marking` puts the *marker* there: a Service and a pod with the inner end of a tunnel, a provider of
external authorization in MeshConfig that names it, and who may ask. None of it changes what a gateway does. Only a
policy does, and it is there only while an impact runs: then gateways ask the marker about a share of requests.

The order is a matter of safety. Istio answers 403 to requests of a policy whose provider or Service is missing, whether
or not it is said to fail open; so both come before the policy, and go after it.
"""

from collections.abc import Iterable, Mapping, Sequence

from cutset.inject.istio.gateways import GATEWAY_NAME
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, OURS, Installation, is_ours, marked
from cutset.model.cluster import ClusterGateway, Resource
from cutset.model.impact import Matching

MARKING_PORT = 9000  # where gateways ask
TUNNEL_PORT = 4321  # on the loopback of the pod
MARKER = "marker"
TIMEOUT_SECONDS = 0.05  # a gateway waits no longer; Istio's default is 600 s
FINEST_SHARE = 1 / 4096  # of requests: three hexadecimal digits of their ids
BY, SINCE = "cutset.dev/by", "cutset.dev/since"  # annotations of a policy: who marks, since when in Unix seconds
PROBE_HEADER = "x-cutset-marking-probe"
_DIGITS = "0123456789abcdef"
_USER = 65532  # nobody in particular; not 1337, whose traffic Istio leaves alone
_NAMES = {"app.kubernetes.io/name": "cutset", "app.kubernetes.io/component": MARKER}
_REQUEST_ID = "request.headers[x-request-id]"
_SECURITY = "security.istio.io/v1"


def marker_name(environment: str) -> str:
    """Of the provider, and of all that is in our namespace for it."""
    return f"cutset-marker-{environment}"


def marker_labels(environment: str) -> dict[str, str]:
    """Of the pod."""
    return {"app": marker_name(environment)}


def marking_entry(environment: str) -> Resource:
    """Of MeshConfig's extension providers. A gRPC one: of an HTTP one, a stranger's 404 would be the user's answer."""
    host = f"{marker_name(environment)}.{COLLECTOR_NAMESPACE}.svc.cluster.local"
    asked = {"service": host, "port": MARKING_PORT, "failOpen": True, "timeout": f"{TIMEOUT_SECONDS}s"}
    return {"name": marker_name(environment), "envoyExtAuthzGrpc": asked}


def marking_resources(wanted: Installation, gateways: Sequence[ClusterGateway]) -> list[Resource]:
    """All but the namespace, in the order in which they are applied."""
    name, environment = marker_name(wanted.environment), wanted.environment
    metadata = {"name": name, "namespace": COLLECTOR_NAMESPACE, "labels": _NAMES}
    askers = sorted({each.namespace for each in gateways})
    found: list[Resource] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": False},
        {"apiVersion": _SECURITY, "kind": "AuthorizationPolicy", "spec": _only_gateways(environment, askers)},
        {"apiVersion": "v1", "kind": "Service", "spec": _service(environment)},
        {"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "spec": _impatience(environment)},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": _deployment(wanted)},
    ]
    return [marked({**each, "metadata": metadata}, environment) for each in found]


def marking_policy(
    environment: str, gateway: ClusterGateway, when: Iterable[Resource], hosts: Sequence[str] = (), **annotations: str
) -> Resource:
    """Gateways ask the marker about requests for which one of these rules holds.

    `hosts`: those that lead to the environment; none: all do.
    """
    rules = [_for_hosts(rule, hosts) for rule in when]
    resource = {
        "apiVersion": _SECURITY,
        "kind": "AuthorizationPolicy",
        "metadata": {"name": policy_name(environment, gateway), "namespace": gateway.namespace},
        "spec": {
            "selector": {"matchLabels": dict(gateway.selector)},
            "action": "CUSTOM",
            "provider": {"name": marker_name(environment)},
            "rules": rules,
        },
    }
    return marked(resource, environment, **annotations)


def policy_name(environment: str, gateway: ClusterGateway) -> str:
    return f"cutset-{environment}-marking-{gateway.name}"


def share_rule(share: float, matching: Matching) -> Resource:
    """A share of all requests, of those that may match: the marker itself looks closer.

    The API has no fractions, but an id that Envoy itself gives to each request ends at random.
    """
    operation: Resource = {}
    if matching.method:
        operation["methods"] = [matching.method]
    if matching.path:
        operation["paths"] = [_path(matching.path)]
    rule: Resource = {"to": [{"operation": operation}]} if operation else {}
    if (endings := request_id_endings(share)) != ("*",):
        rule["when"] = [{"key": _REQUEST_ID, "values": list(endings)}]
    return rule


def probe_rule(secret: str) -> Resource:
    """None but requests that know the secret."""
    return {"when": [{"key": f"request.headers[{PROBE_HEADER}]", "values": [secret]}]}


def request_id_endings(share: float) -> tuple[str, ...]:
    """Patterns that a share of all ids ends with, to the nearest 1/4096: as few as there are digits in it."""
    units = max(1, min(round(share / FINEST_SHARE), 4096))
    if units == 4096:
        return ("*",)
    first, rest = divmod(units, 256)
    second, third = divmod(rest, 16)
    found = [f"*{digit}" for digit in _DIGITS[:first]]
    found += [f"*{digit}{_DIGITS[first]}" for digit in _DIGITS[:second]]
    found += [f"*{digit}{_DIGITS[second]}{_DIGITS[first]}" for digit in _DIGITS[:third]]
    return tuple(found)


def share_of(endings: Sequence[str]) -> float:
    return sum(16.0 ** -(len(each) - 1) for each in endings)


def policies_in_the_way(
    policies: Iterable[Resource], gateway: ClusterGateway, pods: Sequence[Resource], root: str, environment: str
) -> list[Resource]:
    """CUSTOM ones of the gateway besides ours: with two providers, Istio denies all that either is for."""
    return [
        each
        for each in policies
        if (each.get("spec") or {}).get("action") == "CUSTOM"
        and not (is_ours(each) and each["metadata"]["name"] == policy_name(environment, gateway))
        and _concerns(each, gateway, pods, root)
    ]


def _concerns(policy: Resource, gateway: ClusterGateway, pods: Sequence[Resource], root: str) -> bool:
    if policy["metadata"]["namespace"] not in (gateway.namespace, root):
        return False
    spec = policy["spec"]
    if targets := spec.get("targetRefs") or [spec[name] for name in ("targetRef",) if spec.get(name)]:
        names = {_labels(pod).get(GATEWAY_NAME) for pod in pods}
        return any(
            each.get("kind") == "GatewayClass" or (each.get("kind") == "Gateway" and each.get("name") in names)
            for each in targets
        )
    chosen = (spec.get("selector") or {}).get("matchLabels") or {}
    return any(chosen.items() <= _labels(pod).items() for pod in pods)


def _labels(pod: Resource) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}


def _path(pattern: str) -> str:
    """What Istio can say of it: all that begins alike."""
    begin = min((pattern.find(sign) for sign in "*{" if sign in pattern), default=-1)
    return pattern if begin < 0 else f"{pattern[:begin].rstrip('/') or '/'}*"


def _for_hosts(rule: Resource, hosts: Sequence[str]) -> Resource:
    if not hosts:
        return rule
    named = [form for host in hosts for form in (host, f"{host}:*")]
    operations = [{"operation": {**each["operation"], "hosts": named}} for each in rule.get("to", ())]
    return {**rule, "to": operations or [{"operation": {"hosts": named}}]}


def _only_gateways(environment: str, namespaces: Sequence[str]) -> Resource:
    """Whoever asks is given signed plans: so nobody else may, and nobody without a certificate of the mesh."""
    return {
        "selector": {"matchLabels": marker_labels(environment)},
        "action": "DENY",
        "rules": [{"from": [{"source": {"notNamespaces": list(namespaces)}}]}],
    }


def _service(environment: str) -> Resource:
    port = {"name": "grpc-marking", "appProtocol": "grpc", "protocol": "TCP", "port": MARKING_PORT}
    return {"selector": marker_labels(environment), "ports": [{**port, "targetPort": MARKING_PORT}]}


def _impatience(environment: str) -> Resource:
    """Istio lets a single host be ejected as soon as there is outlier detection. A tighter one ejects healthy ones."""
    detection = {
        "consecutiveGatewayErrors": 5,
        "consecutive5xxErrors": 5,
        "interval": "0.5s",
        "baseEjectionTime": "2s",
        "maxEjectionPercent": 100,
    }
    pool = {"tcp": {"connectTimeout": f"{TIMEOUT_SECONDS}s"}, "http": {"http2MaxRequests": 64}}
    host = f"{marker_name(environment)}.{COLLECTOR_NAMESPACE}.svc.cluster.local"
    return {"host": host, "trafficPolicy": {"connectionPool": pool, "outlierDetection": detection}}


def _deployment(wanted: Installation) -> Resource:
    labels = marker_labels(wanted.environment)
    return {
        "replicas": 1,  # there is one tunnel, and one who holds it
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": {**labels, **_NAMES, **OURS}},
            "spec": {
                "serviceAccountName": marker_name(wanted.environment),
                "automountServiceAccountToken": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [_container(wanted)],
            },
        },
    }


def _container(wanted: Installation) -> Resource:
    return {
        "name": MARKER,
        "image": wanted.image,
        "imagePullPolicy": wanted.pull_policy,
        "command": ["cutset", "tunnel", "--port", str(MARKING_PORT), "--private-port", str(TUNNEL_PORT)],
        "ports": [{"name": "grpc-marking", "containerPort": MARKING_PORT, "protocol": "TCP"}],
        "readinessProbe": {"tcpSocket": {"port": MARKING_PORT}, "periodSeconds": 2},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }

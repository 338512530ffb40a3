"""Which services of some namespaces plans reach, and what keeps them from the others."""

from collections.abc import Iterator, Sequence

from cutset.inject.istio.gateways import Listed
from cutset.inject.istio.pods import injects
from cutset.model.checkup import CheckupLine, note, well, wrong
from cutset.model.cluster import ClusterView, Resource
from cutset.model.wording import count, quoted

_AMBIENT = "istio.io/dataplane-mode"
# What people have on purpose: databases, names of others. All else that no plan reaches is likely a mistake.
_ON_PURPOSE = ("plans come with HTTP requests", "outside of the mesh", "no selector")

_REMEDIES = {  # by words of the reason
    "ambient": "Use sidecars there: Cutset does not support ambient meshes",
    "is said of it": "Remove that, and restart it; or accept that nothing can be injected there",
    "not labelled": "Label the namespace, and restart the workload",
    "network of its node": "Take `hostNetwork` away; or accept that nothing can be injected there",
    "InboundPorts": "Take the port out of the annotation, and restart the pod",
    "no pod": "Start what serves it, or correct its selector",
}
_RESTART = "Restart the workload, so that it gets a sidecar: `kubectl rollout restart`"


def reach_checks(namespaces: Sequence[str], view: ClusterView, listed: Listed) -> list[CheckupLine]:
    spaces = {each["metadata"]["name"]: each for each in listed.get("Namespace", ())}
    if missing := [name for name in namespaces if name not in spaces]:
        return [
            wrong(
                "namespaces",
                f"there is no namespace {quoted(missing)}",
                "Correct `istio.namespaces`, or choose another cluster with `istio.context`",
                fatal=True,
            )
        ]
    checks = [line for name in namespaces for line in _injection(spaces[name], view)]
    return [*checks, *_uncovered(view), *_guessed(view), *_unready(view), *_names(view)]


def _injection(namespace: Resource, view: ClusterView) -> Iterator[CheckupLine]:
    name = namespace["metadata"]["name"]
    pods = [pod for pod in view.pods if pod.namespace == name]
    if namespace["metadata"].get("labels", {}).get(_AMBIENT) == "ambient" and not pods:
        yield wrong(
            "namespaces",
            f"{name} is in an ambient mesh, which Cutset does not support: waypoints ignore EnvoyFilters, and there "
            "are no sidecars",
            f"Use sidecars: label it `istio-injection: enabled` instead of `{_AMBIENT}: ambient`, restart its pods",
            fatal=True,
        )
    elif not pods:
        yield wrong(
            "namespaces",
            f"no pod in {name} that serves something has a sidecar",
            f"`kubectl label namespace {name} istio-injection=enabled`, and restart its workloads",
            fatal=True,
        )
    elif not injects(namespace):
        yield note(
            "namespaces",
            f"pods in {name} have sidecars, but the namespace is not labelled: new ones may have none",
            f"`kubectl label namespace {name} istio-injection=enabled`",
        )
    else:
        yield well("namespaces", f"{count(len(pods), 'pod')} in {name} have sidecars")


def _uncovered(view: ClusterView) -> Iterator[CheckupLine]:
    for what, reason in view.uncovered:
        text = f"no plan reaches {what}: {reason}"
        if any(words in reason for words in _ON_PURPOSE):
            yield note("reach", text, "Calls to it are listed as not coverable; drills can fail them inside a process")
        else:
            yield wrong(
                "reach", text, next((remedy for words, remedy in _REMEDIES.items() if words in reason), _RESTART)
            )


def _guessed(view: ClusterView) -> Iterator[CheckupLine]:
    ports = [
        f"{service.namespace}/{service.name}:{port.number}"
        for service in view.services
        for port in service.ports
        if not port.protocol and any(pod.sidecar for pod in service.pods)
    ]
    if ports:
        yield note(
            "ports",
            f"Istio has to guess what is spoken at {', '.join(ports)}: if it takes it for TCP, no plan is obeyed there",
            "Begin the names of these ports with `http-`, `http2-` or `grpc-`, or say `appProtocol`",
        )


def _unready(view: ClusterView) -> Iterator[CheckupLine]:
    if pods := [f"{pod.namespace}/{pod.name}" for pod in view.pods if not pod.ready]:
        yield wrong("pods", f"{', '.join(pods)} is not ready", "See what `kubectl describe pod` says of it")


def _names(view: ClusterView) -> Iterator[CheckupLine]:
    for name, meant in view.ambiguous:
        yield wrong(
            "names",
            f"points would call {meant} `{name}` alike, and no Service unites them",
            "Give the pods of one of them the label `service.istio.io/workload-name` with another name, and restart it",
            fatal=True,
        )
    for each in view.names:
        if len(each.services) > 1:
            yield note(
                "names",
                f"{', '.join(each.services)} lead to one workload, {each.namespace}/{each.workload}: points call it "
                f"`{each.name}`, whichever was called",
            )

"""What the mesh itself does to calls and to spans, so that findings are its own and not the application's."""

import json
from collections.abc import Iterator, Sequence

from cutset.inject.istio.discovery import ISTIO_NAMESPACE
from cutset.inject.istio.gateways import Listed, leading_routes
from cutset.inject.istio.marks import is_ours
from cutset.inject.istio.mesh_config import parsed_mesh
from cutset.inject.istio.planning import FLUSH_SETTING
from cutset.inject.istio.pods import PROXY, ProxyRole, is_live, role_of
from cutset.kubernetes.kinds import named
from cutset.model.checkup import CheckupLine, note, wrong
from cutset.model.cluster import Resource
from cutset.model.wording import count

_SAME_FILTERS = ("HTTP_FILTER", "NETWORK_FILTER", "FILTER_CHAIN", "LISTENER")
_BREAKING = ("REMOVE", "REPLACE")


def colour_checks(namespaces: Sequence[str], listed: Listed) -> list[CheckupLine]:
    routes = leading_routes(listed, "VirtualService", namespaces)
    return [
        *_faults(routes),
        *_timeouts(routes, leading_routes(listed, "HTTPRoute", namespaces)),
        *_retries(routes, parsed_mesh(next(iter(listed.get("ConfigMap", ())), None))),
        *_other_filters(namespaces, listed),
        *_other_tracing(namespaces, listed),
        *_flush(namespaces, listed),
    ]


def _faults(routes: Sequence[Resource]) -> Iterator[CheckupLine]:
    if faulty := [named(route) for route in routes if any(rule.get("fault") for rule in route["spec"].get("http", ()))]:
        yield wrong(
            "faults",
            f"{', '.join(faulty)} injects faults into everybody's calls, in the caller, before its retries: what "
            "experiments show would be its doing as well",
            "Remove `fault` from it while you explore",
        )


def _timeouts(virtual: Sequence[Resource], routes: Sequence[Resource]) -> Iterator[CheckupLine]:
    limited = [
        f"{named(route)} after {rule['timeout']}"
        for route in virtual
        for rule in route["spec"].get("http", ())
        if str(rule.get("timeout", "0s")) not in ("0s", "0")
    ]
    limited += [
        f"{named(route)} after {time}"
        for route in routes
        for rule in route["spec"].get("rules", ())
        if (time := (rule.get("timeouts") or {}).get("request")) and time != "0s"
    ]
    if limited:
        yield note(
            "timeouts",
            f"the mesh itself gives up on calls: {', '.join(limited)}. What takes longer fails, whatever callers do",
            "Remove `timeout` to see what callers do themselves",
        )


def _retries(routes: Sequence[Resource], mesh: Resource) -> Iterator[CheckupLine]:
    own = [
        f"{named(route)} ({rule['retries'].get('attempts', 2)})"
        for route in routes
        for rule in route["spec"].get("http", ())
        if rule.get("retries")
    ]
    default = (mesh.get("defaultHttpRetryPolicy") or {}).get("attempts", 2)
    said = [*own, *([f"those of which nothing else is said ({default})"] if default else [])]
    if said:
        yield note(
            "retries",
            f"the mesh itself retries calls: {', '.join(said)}. By default they are for gRPC's UNAVAILABLE and "
            "CANCELLED and for refused connections, not for HTTP 503: callers see less of failures",
            "Set `retries: {attempts: 0}` in a VirtualService to see what callers do themselves",
        )


def _other_filters(namespaces: Sequence[str], listed: Listed) -> Iterator[CheckupLine]:
    for each in listed.get("EnvoyFilter", ()):
        if is_ours(each) or each["metadata"]["namespace"] not in (*namespaces, ISTIO_NAMESPACE):
            continue
        patches = [patch for patch in each["spec"].get("configPatches", ()) if _touches_ours(patch)]
        operations = {patch.get("patch", {}).get("operation", "") for patch in patches}
        if broken := sorted(operations & set(_BREAKING)):
            yield wrong(
                "filters",
                f"{named(each)} takes filters out of the same listeners ({', '.join(broken)}): ours may be among them",
                "See whether it is needed; an empty plan that comes back (below) shows that ours is still there",
            )
        elif patches:
            yield note(
                "filters",
                f"{named(each)} patches the same listeners: what it does comes before or after our faults",
                "If plans are not obeyed, look there first",
            )


def _touches_ours(patch: Resource) -> bool:
    context = patch.get("match", {}).get("context", "ANY")
    return patch.get("applyTo") in _SAME_FILTERS and context in ("ANY", "SIDECAR_INBOUND")


def _other_tracing(namespaces: Sequence[str], listed: Listed) -> Iterator[CheckupLine]:
    for each in listed.get("Telemetry", ()):
        where = each["metadata"]["namespace"]
        if is_ours(each) or where not in (*namespaces, ISTIO_NAMESPACE) or not (each.get("spec") or {}).get("tracing"):
            continue
        rules = each["spec"]["tracing"]
        providers = sorted({one["name"] for rule in rules for one in rule.get("providers", ())})
        rates = sorted({rule["randomSamplingPercentage"] for rule in rules if "randomSamplingPercentage" in rule})
        said = f"to {', '.join(providers) or 'the provider of the mesh'}"
        said += f", {', '.join(f'{rate:g} %' for rate in rates)} of them" if rates else ""
        yield note(
            "tracing",
            f"{named(each)} sends spans {said}; a namespace has one provider",
            "Install with `--keep-tracing` and let Cutset read traces from there, or remove it while you explore",
        )


def _flush(namespaces: Sequence[str], listed: Listed) -> Iterator[CheckupLine]:
    slow = [
        pod
        for pod in listed.get("Pod", ())
        if pod["metadata"]["namespace"] in namespaces
        and is_live(pod)
        and role_of(pod) is ProxyRole.SIDECAR
        and FLUSH_SETTING not in _runtime(pod)
    ]
    if slow:
        yield note(
            "speed",
            f"the sidecars of {count(len(slow), 'pod')} hold spans back for up to 5 s, and each experiment waits that "
            "long for its proof",
            f'Set `defaultConfig: {{runtimeValues: {{{FLUSH_SETTING}: "20"}}}}` in MeshConfig, or the same in the '
            "annotation `proxy.istio.io/config` of the pods, and restart them: then it is 20 ms",
        )


def _runtime(pod: Resource) -> Resource:
    """What the bootstrap of a pod's sidecar was given."""
    for container in (*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())):
        for variable in container.get("env", ()) if container["name"] == PROXY else ():
            if variable["name"] == "PROXY_CONFIG":
                try:
                    found = json.loads(variable.get("value") or "{}").get("runtimeValues")
                except ValueError:
                    found = None
                return found if isinstance(found, dict) else {}
    return {}

"""What an installation consists of, and what speaks against it. Pure: from what was listed to resources and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutset.errors import UsageError
from cutset.inject.istio.collector import collector_resources, our_namespace
from cutset.inject.istio.envoy_filter import envoy_filter
from cutset.inject.istio.gateway_filters import gateway_filter
from cutset.inject.istio.gateways import Listed
from cutset.inject.istio.marking import marking_entry, marking_resources
from cutset.inject.istio.marks import (
    COLLECTOR_NAMESPACE,
    ENVIRONMENT,
    Installation,
    installation_in,
    is_ours,
    label,
    marked,
)
from cutset.inject.istio.mesh_config import parsed_mesh, provider_entry
from cutset.inject.istio.outliers import gateway_outlier_patches, outlier_patches
from cutset.inject.istio.sidecars import sidecars_filter
from cutset.inject.istio.telemetry import telemetry
from cutset.inject.istio.traffic_policy import CallRules
from cutset.kubernetes.kinds import named
from cutset.model.cluster import ClusterGateway, ClusterView, Resource
from cutset.model.wording import quoted

ROOT_NAMESPACE = "istio-system"  # unless MeshConfig says otherwise
TESTED = "1.31"  # the version of Istio that all this was tested with
OUTLIERS = "-outliers"  # ends, or goes on before a gateway's, the names of patches for outlier detection
FLUSH_SETTING = "tracing.opentelemetry.flush_interval_ms"
_INJECTION_LABELS = ("istio-injection", "istio.io/rev")


@dataclass(frozen=True, slots=True)
class InstallPlan:
    resources: tuple[Resource, ...]  # in the order in which they are applied
    entries: tuple[Resource, ...]  # of MeshConfig's extension providers
    notes: tuple[str, ...]  # what the user should know


def install_plan(wanted: Installation, view: ClusterView, listed: Listed) -> InstallPlan:
    """Raises UsageError if something speaks against it."""
    mesh = parsed_mesh(next(iter(listed.get("ConfigMap", ())), None))
    root = str(mesh.get("rootNamespace") or ROOT_NAMESPACE)
    _refuse_what_cannot_be(wanted, view, listed, root)
    injection = injection_label(wanted.namespaces, listed)
    resources: list[Resource] = []
    entries: list[Resource] = []
    if not wanted.keep_tracing:
        _refuse_other_tracing(wanted, listed, mesh, root)
        if not wanted.collector:
            resources += collector_resources(wanted, injection)
        resources += [telemetry(wanted, namespace) for namespace in wanted.namespaces]
        entries.append(provider_entry(wanted))
    if wanted.marking:
        refuse_marking(wanted, view.gateways, listed)
        resources += [] if any(each["kind"] == "Namespace" for each in resources) else [our_namespace(injection)]
        resources += marking_resources(wanted, view.gateways)
        entries.append(marking_entry(wanted.environment))
    resources += _outlier_filters(wanted, view, listed, mesh, root)
    resources += [
        gateway_filter(wanted, each, has_tracer=wanted.keep_tracing or _traces(each.namespace, listed))
        for each in view.gateways
    ]
    # Plans are obeyed from here on, so this comes last: whoever listens, looks away or strips is there by then.
    resources += [sidecars_filter(wanted, each, view.names_in(each)) for each in wanted.namespaces]
    return InstallPlan(tuple(resources), tuple(entries), tuple(_notes(wanted, view, listed, mesh)))


def _refuse_what_cannot_be(wanted: Installation, view: ClusterView, listed: Listed, root: str) -> None:
    for namespace in wanted.namespaces:
        if namespace in (root, COLLECTOR_NAMESPACE):
            raise UsageError(
                f"`{namespace}` is no namespace of an application: what is put there concerns the whole mesh",
                hint="Name the namespaces of the services under test",
            )
        _refuse_another_environment(wanted, namespace, listed)
        pods = [pod for pod in view.pods if pod.namespace == namespace]
        if not pods:
            reasons = {why for what, why in view.uncovered if f" {namespace}/" in what}
            raise UsageError(
                f"No pod in namespace `{namespace}` has a sidecar: {'; '.join(sorted(reasons)) or 'there are no pods'}",
                hint=f"`kubectl label namespace {namespace} istio-injection=enabled`, then restart its workloads",
            )


def refuse_marking(wanted: Installation, gateways: Sequence[ClusterGateway], listed: Listed) -> None:
    """A tracer in the gateway gives requests another trace than they were marked for: no plan would be obeyed."""
    hint = "Leave `--marking` out: `cutset impact` with `--load` or `--replay` needs none"
    if not gateways:
        raise UsageError("No ingress gateway leads there, so that no live request could be marked", hint=hint)
    if wanted.strip_all:
        raise UsageError("With `--strip-all` gateways drop the plans of marked requests, too", hint=hint)
    if wanted.keep_tracing:
        raise UsageError("With `--keep-tracing` gateways may trace, and no live request can be marked then", hint=hint)
    for each in gateways:
        if _traces(each.namespace, listed):
            raise UsageError(
                f"A Telemetry lets the gateway {each.namespace}/{each.name} trace, and no live request can be marked "
                "then",
                hint=hint,
            )


def _refuse_another_environment(wanted: Installation, namespace: str, listed: Listed) -> None:
    for each in listed.get("EnvoyFilter", ()):
        if each["metadata"]["namespace"] != namespace or not is_ours(each):
            continue
        installed = installation_in(each)
        if installed and installed.environment == wanted.environment and installed.public_key != wanted.public_key:
            raise UsageError(
                f"The environment `{wanted.environment}` was installed with another key than yours ({named(each)})",
                hint="Set CUTSET_KEY to that key, choose another `--environment`, or `cutset uninstall` it first",
            )
        # Those of gateways have selectors: environments share gateways.
        if label(each, ENVIRONMENT) != wanted.environment and "workloadSelector" not in each["spec"]:
            other = label(each, ENVIRONMENT)
            raise UsageError(
                f"Namespace `{namespace}` belongs to the environment `{other}` already ({named(each)})",
                hint=f"Use `--environment {other}`, or `cutset uninstall -n {namespace} --environment {other}` first",
            )


def _refuse_other_tracing(wanted: Installation, listed: Listed, mesh: Resource, root: str) -> None:
    """A namespace has one provider: ours would take the place of the team's."""
    hint = "Use `--keep-tracing`: spans then stay with the team's own provider, and Cutset reads them there"
    for each in listed.get("Telemetry", ()):
        namespace = each["metadata"]["namespace"]
        if is_ours(each):
            continue
        spec = each.get("spec") or {}
        whole = not spec.get("selector") and not spec.get("targetRefs")
        if namespace in (*wanted.namespaces, root) and spec.get("tracing"):
            raise UsageError(f"{named(each)} says who gets the spans of `{namespace}` already", hint=hint)
        if namespace in wanted.namespaces and whole:
            raise UsageError(
                f"{named(each)} is for all of `{namespace}`, and Istio takes only one such: ours would be ignored",
                hint=hint,
            )
    if providers := (mesh.get("defaultProviders") or {}).get("tracing"):
        raise UsageError(f"MeshConfig sends spans to {quoted(map(str, providers))} already", hint=hint)


def _traces(namespace: str, listed: Listed) -> bool:
    telemetries = (each for each in listed.get("Telemetry", ()) if each["metadata"]["namespace"] == namespace)
    return any((each.get("spec") or {}).get("tracing") for each in telemetries if not is_ours(each))


def injection_label(namespaces: Sequence[str], listed: Listed) -> Mapping[str, str]:
    """By what the first application namespace with such a label asks for sidecars."""
    for namespace in listed.get("Namespace", ()):
        if namespace["metadata"]["name"] in namespaces:
            for name in _INJECTION_LABELS:
                if text := label(namespace, name):
                    return {name: text}
    return {"istio-injection": "enabled"}


def _outlier_filters(
    wanted: Installation, view: ClusterView, listed: Listed, mesh: Resource, root: str
) -> list[Resource]:
    rules = CallRules(
        listed.get("DestinationRule", ()), listed.get("VirtualService", ()), listed.get("HTTPRoute", ()), mesh, root
    )
    name = f"{wanted.name}{OUTLIERS}"
    found = [
        envoy_filter(name, namespace, outlier_patches(namespace, view.services, rules))
        for namespace in wanted.namespaces
    ]
    found += [
        envoy_filter(
            f"{name}-{gateway.name}",
            gateway.namespace,
            gateway_outlier_patches(gateway.namespace, view.services, rules),
            dict(gateway.selector),
        )
        for gateway in view.gateways
    ]
    return [marked(each, wanted.environment) for each in found if each["spec"]["configPatches"]]


def _notes(wanted: Installation, view: ClusterView, listed: Listed, mesh: Resource) -> list[str]:
    notes = [f"{what}: {why}" for what, why in view.uncovered]
    notes += [f"`{name}` is the name of {what}: no plan can tell them apart" for name, what in view.ambiguous]
    if not view.gateways:
        notes.append("No ingress gateway leads there: experiments have to enter from inside the mesh")
    if view.istio_version and _numbers(view.istio_version) < _numbers(TESTED):
        notes.append(f"Istio is {view.istio_version}; Cutset was tested with {TESTED}")
    if FLUSH_SETTING not in ((mesh.get("defaultConfig") or {}).get("runtimeValues") or {}):
        notes.append(
            "Sidecars hand on spans after up to 5 s, and each experiment waits for them; with "
            f'`defaultConfig.runtimeValues: {{{FLUSH_SETTING}: "20"}}` in MeshConfig, pods that start then do in 20 ms'
        )
    for each in listed.get("EnvoyFilter", ()):
        if each["metadata"]["namespace"] in wanted.namespaces and not is_ours(each):
            notes.append(f"{named(each)} patches the same sidecars: if plans do not arrive, look there first")
    for each in listed.get("Sidecar", ()):
        if each["metadata"]["namespace"] in wanted.namespaces and not wanted.keep_tracing and hides_collector(each):
            notes.append(f"{named(each)} leaves out `{COLLECTOR_NAMESPACE}/*`: no spans get to the collector")
    return notes


def hides_collector(sidecar: Resource) -> bool:
    egress = (sidecar.get("spec") or {}).get("egress") or ()
    hosts = [host for each in egress for host in each.get("hosts", ())]
    return bool(hosts) and not any(host.partition("/")[0] in ("*", COLLECTOR_NAMESPACE) for host in hosts)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:2] if part.isdigit())

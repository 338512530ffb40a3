"""What a cluster says of a set-up in Istio, before anything is sent: pure, over what was read there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cutset.experiment.istio_colours import colour_checks
from cutset.experiment.istio_reach import reach_checks
from cutset.inject.istio.gateways import Listed
from cutset.inject.istio.planning import TESTED
from cutset.inject.istio.rights import AccessQuestion
from cutset.model.checkup import CheckupLine, note, well, wrong
from cutset.model.cluster import ClusterView
from cutset.model.wording import quoted

CLOCK_SECONDS = 5.0  # plans bear some; the API server tells its own to the second
NEEDED_KINDS = ("EnvoyFilter", "Telemetry", "DestinationRule", "VirtualService", "Gateway")
_OPTIONAL = (
    "cutset uninstall",
    "cutset harden --apply istio",
    "cutset explore --in-cluster",
)  # who lacks these can explore all the same


@dataclass(frozen=True, slots=True)
class IstioSituation:
    namespaces: tuple[str, ...]
    view: ClusterView
    listed: Listed
    kubernetes: str = ""  # version
    unknown_kinds: tuple[str, ...] = ()  # of those that are needed, what the cluster does not have
    missing_rights: tuple[AccessQuestion, ...] = ()
    clock_ahead: float = 0.0  # seconds, of the API server before ours
    gateway: str = ""  # `namespace/service` by which experiments are to enter; empty: another way
    gateway_port: int = 80


def istio_checks(found: IstioSituation) -> list[CheckupLine]:
    checks = [*_cluster(found), *_rights(found), *_clock(found)]
    if any(check.fatal for check in checks):
        return checks
    checks += reach_checks(found.namespaces, found.view, found.listed)
    return [*checks, *_gateway(found), *colour_checks(found.namespaces, found.listed)]


def _cluster(found: IstioSituation) -> Iterator[CheckupLine]:
    if found.unknown_kinds:
        yield wrong(
            "istio",
            f"the cluster knows no {quoted(found.unknown_kinds)}: Istio is not installed in it, or only a part of it",
            "Install Istio with its CustomResourceDefinitions, or choose another cluster with `--context`",
            fatal=True,
        )
        return
    version = found.view.istio_version
    said = f"Kubernetes {found.kubernetes}, Istio {version or 'of an unknown version'}"
    if version.startswith(f"{TESTED}.") or version == TESTED:
        yield well("istio", said)
    else:
        yield note(
            "istio",
            f"{said}; Cutset was tested with {TESTED}",
            "Read on: what follows shows whether it works with yours as well",
        )


def _rights(found: IstioSituation) -> Iterator[CheckupLine]:
    by_command: dict[str, list[AccessQuestion]] = defaultdict(list)
    for question in found.missing_rights:
        by_command[question.command].append(question)
    if not by_command.keys() - set(_OPTIONAL):
        yield well("rights", "all that is needed to install and to explore is given")
    remedy = "Let an administrator give them: `cutset install --print-role` writes the roles"
    for command, missing in by_command.items():
        told = "no command will work" if command == "every command" else f"`{command}` will not work"
        text = f"you may not {'; '.join(_together(missing))}: {told}"
        yield note("rights", text, remedy) if command in _OPTIONAL else wrong("rights", text, remedy)


def _together(missing: Iterable[AccessQuestion]) -> Iterator[str]:
    """`create, patch envoyfilters.networking.istio.io in shop`."""
    verbs: dict[str, list[str]] = defaultdict(list)
    for question in missing:
        verbs[str(replace(question, verb=""))].append(question.verb)
    return (f"{', '.join(asked)}{what}" for what, asked in verbs.items())


def _clock(found: IstioSituation) -> Iterator[CheckupLine]:
    ahead = found.clock_ahead
    if abs(ahead) > CLOCK_SECONDS:
        yield wrong(
            "clock",
            f"the clock of the cluster is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} ours, so that "
            "sidecars take plans for expired or for too long-lived",
            "Set the clock of this machine, by NTP",
        )


def _gateway(found: IstioSituation) -> Iterator[CheckupLine]:
    known = {f"{each.namespace}/{each.name}": each for each in found.view.gateways}
    if not found.gateway:
        if not known:
            yield note(
                "gateway",
                f"no ingress gateway leads to {quoted(found.namespaces)}: experiments enter inside the cluster only",
                "Use `cutset explore --in-cluster`, or make a Gateway with a route to the service that users call",
            )
        return
    gateway = known.get(found.gateway)
    if gateway is None:
        yield wrong(
            "gateway",
            f"`istio.gateway`, {found.gateway}, is no gateway that leads to {quoted(found.namespaces)}",
            f"Set it to {' or '.join(known)}"
            if known
            else "Make a Gateway with a route to the service that users call",
            fatal=True,
        )
    elif found.gateway_port not in (ports := [port.number for port in gateway.ports]):
        yield wrong(
            "gateway",
            f"{found.gateway} has no port {found.gateway_port}",
            f"Set `istio.gateway_port` to one of {', '.join(map(str, ports))}",
            fatal=True,
        )
    elif not any(pod.ready for pod in gateway.pods):
        yield wrong(
            "gateway", f"no pod of {found.gateway} is ready", "See what `kubectl describe pod` says of it", fatal=True
        )
    else:
        yield well("gateway", f"{found.gateway} leads there")

"""Does the doctor name what is wrong with a set-up in a real Istio? A shop that is well is broken in every way in which
set-ups are, one after the other, and `cutset doctor` must say which way it was. Each change is taken back before the
next one.

    python -m cluster run -- python -m benchmarks.istio.doctor
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.istio.breakage import Breakage, pod, resource
from cluster.api import Api
from cluster.control_plane import API_PORT, TOKEN

from cutset.app.doctor_istio import examine_cluster
from cutset.errors import CutsetError
from cutset.experiment.istio_installed import OwnSide
from cutset.inject.ecdsa import new_private_key
from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.marks import Installation
from cutset.inject.istio.mesh_config import with_entry
from cutset.inject.istio.planning import install_plan
from cutset.inject.signing import public_key_of
from cutset.kubernetes.client import connected
from cutset.model.checkup import CheckupLine, LineState, wrong
from cutset.model.cluster import IstioPlace, Resource

NAMESPACE, GATEWAY = "shop", "istio-ingress/ingress"
QUICK = 6  # cases
PATIENCE = 40  # seconds until a change shows, or until all is well again
ISTIO, TRACING = "networking.istio.io/v1", "telemetry.istio.io/v1"
FILTER = "networking.istio.io/v1alpha3"
SHOP = f"/namespaces/{NAMESPACE}"
_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


@dataclass
class SetUp:
    """What a case may change before the doctor comes: the cluster, or our own side."""

    broken: Breakage
    place: IstioPlace
    own: OwnSide
    kubeconfig: str = field(default_factory=lambda: os.environ["KUBECONFIG"])


@dataclass(frozen=True)
class Case:
    name: str
    line: str  # of the doctor's
    words: str
    wrongly: Callable[[SetUp], None]


def _own(**changes: Any) -> Callable[[SetUp], None]:
    def change(system: SetUp) -> None:
        system.own = replace(system.own, **changes)

    return change


def _place(**changes: Any) -> Callable[[SetUp], None]:
    def change(system: SetUp) -> None:
        system.place = replace(system.place, **changes)

    return change


def _gone(address: str) -> Callable[[SetUp], None]:
    return lambda system: system.broken.delete(address)


def _there(*resources: dict[str, Any]) -> Callable[[SetUp], None]:
    return lambda system: system.broken.apply(*resources)


def _changed(address: str, change: dict[str, Any]) -> Callable[[SetUp], None]:
    return lambda system: system.broken.change(address, change)


def _forgetful_mesh_config(system: SetUp) -> None:
    system.broken.change(
        "/api/v1/namespaces/istio-system/configmaps/istio", {"data": {"mesh": "enableTracing: true\n"}}
    )


def _without_gateways(system: SetUp) -> None:
    for each in system.broken.api.get(f"/apis/{ISTIO}{SHOP}/gateways")["items"]:
        system.broken.delete(f"/apis/{ISTIO}{SHOP}/gateways/{each['metadata']['name']}")


def _stranger(system: SetUp) -> None:
    """Who may do nothing but read the namespace's pods and services."""
    system.kubeconfig = str(system.broken.stranger(["pods", "services"]))


def _elsewhere(system: SetUp) -> None:
    folder = Path(system.kubeconfig).parent
    content = Path(system.kubeconfig).read_text().replace(f":{API_PORT}", ":9")
    (folder / "elsewhere").write_text(content)
    system.kubeconfig = str(folder / "elsewhere")


def _route(name: str, **rule: Any) -> dict[str, Any]:
    http = [{"route": [{"destination": {"host": "backend"}}], **rule}]
    return resource("VirtualService", name, {"hosts": ["backend"], "http": http}, ISTIO)


def _service(name: str, selector: dict[str, str], /, **port: Any) -> dict[str, Any]:
    ports = [{"port": 8080, "targetPort": 8080, "name": "http"} | port]
    return resource("Service", name, {"selector": selector, "ports": ports}, "v1")


_INBOUND = {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {"name": "x"}}}}
_REMOVING = {"applyTo": "HTTP_FILTER", "match": _INBOUND, "patch": {"operation": "REMOVE"}}
_LUA = {
    "name": "theirs",
    "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua"},
}
_ADDING = {"applyTo": "HTTP_FILTER", "match": _INBOUND, "patch": {"operation": "INSERT_FIRST", "value": _LUA}}
_EJECTING = {"host": "backend", "trafficPolicy": {"outlierDetection": {"consecutive5xxErrors": 5}}}
_JAEGER = {"tracing": [{"providers": [{"name": "jaeger"}], "randomSamplingPercentage": 1}]}
_TRAFFIC = "traffic.sidecar.istio.io/excludeInboundPorts"

CASES = (
    Case("nothing installed", "install", "nothing of Cutset is installed in shop",
         _gone(f"/apis/{FILTER}{SHOP}/envoyfilters/cutset-shop")),
    Case("another key", "key", "obeys another key", _own(public_key=b"another")),
    Case("another environment", "environment", "obeys plans for `shop`", _own(environment="staging")),
    Case("no Telemetry", "install", "Telemetry shop/cutset-shop is missing",
         _gone(f"/apis/{TRACING}{SHOP}/telemetries/cutset-shop")),
    Case("MeshConfig written anew", "tracing", "MeshConfig has no tracing provider `cutset`", _forgetful_mesh_config),
    Case("no collector", "collector", "cutset/collector is not there",
         _gone("/apis/apps/v1/namespaces/cutset/deployments/collector")),
    Case("collector without pods", "collector", "no pod of the Deployment cutset/collector is ready",
         _changed("/apis/apps/v1/namespaces/cutset/deployments/collector", {"spec": {"replicas": 0}})),
    Case("filter of the gateway gone", "install", "EnvoyFilter istio-ingress/cutset-shop-gateway-ingress is missing",
         _gone(f"/apis/{FILTER}/namespaces/istio-ingress/envoyfilters/cutset-shop-gateway-ingress")),
    Case("a later DestinationRule ejects replicas", "install", "would be ejected",
         _there(resource("DestinationRule", "backend", _EJECTING, ISTIO))),
    Case("a workload that came later", "install", "EnvoyFilter shop/cutset-shop is not up to date",
         _there(pod("backend-v2-1", {"app": "backend"}))),
    Case("faults by a VirtualService", "faults", "VirtualService shop/faulty injects faults",
         _there(_route("faulty", fault={"abort": {"httpStatus": 500, "percentage": {"value": 50}}}))),
    Case("a timeout of the mesh", "timeouts", "VirtualService shop/hasty after 1s",
         _there(_route("hasty", timeout="1s"))),
    Case("retries of the mesh", "retries", "VirtualService shop/stubborn (7)",
         _there(_route("stubborn", retries={"attempts": 7, "retryOn": "5xx"}))),
    Case("another filter before ours", "filters", "EnvoyFilter shop/theirs patches the same listeners",
         _there(resource("EnvoyFilter", "theirs", {"configPatches": [_ADDING]}, FILTER))),
    Case("another filter that removes", "filters", "EnvoyFilter shop/theirs takes filters out",
         _there(resource("EnvoyFilter", "theirs", {"configPatches": [_REMOVING]}, FILTER))),
    Case("tracing of the team", "tracing", "Telemetry shop/theirs sends spans to jaeger, 1 %",
         _there(resource("Telemetry", "theirs", _JAEGER, TRACING))),
    Case("a port that Istio guesses", "ports", "guess what is spoken at shop/guessed:8080",
         _there(_service("guessed", {"app": "backend"}, name="web"))),
    Case("a port that is TCP", "reach", "Service shop/raw, port 8080: it is TCP",
         _there(_service("raw", {"app": "backend"}, name="tcp-raw"))),
    Case("a Service without pods", "reach", "Service shop/nobody: no pod serves it",
         _there(_service("nobody", {"app": "nobody"}))),
    Case("a Service that is another name", "reach", "another name for `db.example.com`",
         _there(resource("Service", "db", {"type": "ExternalName", "externalName": "db.example.com"}, "v1"))),
    Case("two Services over one workload", "names", "lead to one workload, shop/quote",
         _there(_service("quotes", {"app": "quote"}))),
    Case("the label of the namespace gone", "namespaces", "the namespace is not labelled",
         _changed(f"/api/v1{SHOP}", {"metadata": {"labels": {"istio-injection": None}}})),
    Case("a pod without a sidecar", "reach", "pod bare-1: it has no sidecar: `sidecar.istio.io/inject: false`",
         _there(pod("bare-1", {"app": "backend", "sidecar.istio.io/inject": "false"}))),
    Case("a pod in the node's network", "reach", "pod host-1: it uses the network of its node",
         _there(pod("host-1", {"app": "backend"}, hostNetwork=True))),
    Case("an ambient pod", "reach", "ambient",
         _there(pod("ambient-1", {"app": "backend", "sidecar.istio.io/inject": "false",
                                  "istio.io/dataplane-mode": "ambient"}))),
    Case("a port past the sidecar", "reach", "annotations lead it past the sidecar",
         _there(pod("past-1", {"app": "backend"}, annotations={_TRAFFIC: "8080"}))),
    Case("a pod that is not ready", "pods", "shop/late-1 is not ready", _there(pod("late-1", {"app": "backend"}))),
    Case("a workload that is called like a Service", "names", "points would call",
         _there(pod("x-1", {"app": "x", "service.istio.io/workload-name": "x-v1"}), _service("x", {"app": "x"}),
                pod("y-1", {"app": "y", "service.istio.io/workload-name": "x"}))),
    Case("a gateway that is not there", "gateway", "is no gateway that leads to `shop`", _place(gateway="edge/front")),
    Case("a port that the gateway does not have", "gateway", "has no port 8443", _place(gateway_port=8443)),
    Case("a Gateway resource gone", "gateway", "is no gateway that leads to `shop`",
         _without_gateways),
    Case("a gateway without pods", "gateway", "no gateway that leads",
         _changed("/apis/apps/v1/namespaces/istio-ingress/deployments/ingress", {"spec": {"replicas": 0}})),
    Case("a namespace that is not there", "namespaces", "there is no namespace `shoop`", _place(namespaces=("shoop",))),
    Case("no rights", "rights", "you may not", _stranger),
    Case("no cluster", "cluster", "does not answer", _elsewhere),
    Case("a context that is not there", "cluster", "`production`", _place(context="production")),
)  # fmt: skip


def lines(system: SetUp) -> list[CheckupLine]:
    os.environ["KUBECONFIG"] = system.kubeconfig
    try:
        return asyncio.run(examine_cluster(system.place, system.own))
    except CutsetError as error:  # as the command shows it
        return [wrong("cluster", error.message, error.hint)]


async def install() -> tuple[OwnSide, Sequence[Resource], Resource]:
    """With a key of our own: what is then there, and MeshConfig as it was."""
    public_key = public_key_of(new_private_key())
    async with connected() as cluster:
        listed = await list_resources(cluster, [NAMESPACE])
        wanted = Installation(NAMESPACE, (NAMESPACE,), public_key)
        plan = install_plan(wanted, view_of(listed, [NAMESPACE]), listed)
        (config,) = listed["ConfigMap"]
        (entry,) = plan.entries
        mesh = with_entry(config["data"]["mesh"], entry)
        await cluster.replace({**config, **_CONFIG_MAP, "data": config["data"] | {"mesh": mesh}})
        for each in plan.resources:
            await cluster.apply(each, force=True)
    return OwnSide(NAMESPACE, public_key), plan.resources, config


async def remove(resources: Sequence[Resource], config: Resource) -> None:
    async with connected() as cluster:
        for each in reversed(resources):
            await cluster.delete(each)
        now = await cluster.get("ConfigMap", "istio", "istio-system")
        assert now is not None
        await cluster.replace({**now, **_CONFIG_MAP, "data": config["data"]})


def named_in(case: Case, found: list[CheckupLine], before: set[str]) -> bool:
    """The doctor says it, with a remedy where something is wrong, and did not say it before."""
    told = [each for each in found if each.text not in before and each.state is not LineState.WELL]
    return any(each.name == case.line and case.words in each.text for each in told)


def examined(case: Case, system: SetUp, before: set[str]) -> bool:
    with system.broken:
        case.wrongly(system)
        deadline = time.monotonic() + PATIENCE
        while not (named := named_in(case, lines(system), before)) and time.monotonic() < deadline:
            time.sleep(0.3)
    return named


def well(system: SetUp) -> set[str]:
    """What the doctor says of a set-up that is well, when it is."""
    deadline = time.monotonic() + 2 * PATIENCE
    while True:
        found = lines(system)
        bad = [each.text for each in found if each.state is LineState.WRONG]
        if not bad:
            return {each.text for each in found}
        assert time.monotonic() < deadline, f"the set-up never gets well: {bad}"
        time.sleep(0.5)


@contextmanager
def installed() -> Iterator[OwnSide]:
    """Where nothing of Cutset is; and nothing is afterwards."""
    own, resources, config = asyncio.run(install())
    try:
        yield own
    finally:
        asyncio.run(remove(resources, config))


def fresh(api: Api, own: OwnSide) -> SetUp:
    return SetUp(Breakage(api, NAMESPACE), IstioPlace((NAMESPACE,), gateway=GATEWAY), own)


def run_cases(api: Api, cases: tuple[Case, ...] = CASES) -> Iterator[tuple[Case, bool]]:
    """Whether each was named."""
    kubeconfig = os.environ["KUBECONFIG"]
    with installed() as own:
        for case in cases:
            system = fresh(api, own)
            before = well(system)
            try:
                yield case, examined(case, system, before)
            finally:
                os.environ["KUBECONFIG"] = kubeconfig


def laboratory_api() -> Api:
    run = Path(os.environ["CLUSTER_RUN"])
    return Api.connect(f"https://127.0.0.1:{API_PORT}", TOKEN, run / "certificates/ca.crt")


def measure(_: object = None, *, quick: bool = False) -> dict[str, Any]:
    found = []
    for case, named in run_cases(laboratory_api(), CASES[:QUICK] if quick else CASES):
        print(f"  {'named ' if named else 'MISSED'}  {case.name}", file=sys.stderr, flush=True)
        found.append(named)
    return {"doctor_cases": len(found), "doctor_named": sum(found)}


if __name__ == "__main__":
    print(json.dumps(measure()))

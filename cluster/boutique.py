"""The boutique in Istio: its twelve services as Deployments, its data stores beside the mesh.

Whatever its local mesh does is said in Istio's words, so that the answer key must be the same: as many retries as there
are other replicas, of what the callee cannot have processed, and requests of a user that enter at the frontend.
"""

import time

from cluster.api import Resource
from cluster.control_plane import named
from cluster.network import BRIDGE_ADDRESS
from cluster.processes import Place
from cluster.shops import ISTIO, ingress_gateway, namespace, route, strict, workload
from cutset_demo import children
from cutset_demo.shop import SERVICES

NAMESPACE = "boutique"
PORTS = {name: 8080 if protocol == "http" else 9000 for name, protocol in SERVICES.items()}
STORE_PORTS = {"redis": 6379, "nats": 4222, "postgres": 5432}
RETRIED = "connect-failure,refused-stream,unavailable,503"
COLLECTOR = "http://collector.cutset:4318"  # of `cutset install`; where there is none, the shop's own spans are lost
START_SECONDS = 60.0
_running: list[children.Child] = []  # data stores end when nobody holds their standard input any more


def start_stores(place: Place) -> None:
    """Where pods reach them and the mesh does not: the bridge's own address. They end with this process."""
    logs = place.run / "logs"
    child = children.start_child("stores", "cutset_demo.datastores", logs)
    addresses = {name: f"{BRIDGE_ADDRESS}:{port}" for name, port in STORE_PORTS.items()}
    children.configure(child, {"addresses": addresses, "data": str(place.run / "volatile/stores"), "logs": str(logs)})
    children.wait_until_ready(child, time.monotonic() + START_SECONDS)
    _running.append(child)


def stop_stores() -> None:
    children.stop_children(_running)
    _running.clear()


def boutique(replicas: int = 2, space: str = NAMESPACE) -> list[Resource]:
    found = [namespace(space), strict(space)]
    for service, protocol in SERVICES.items():
        command = ["python", "-m", "cluster.boutique_service", service, BRIDGE_ADDRESS, COLLECTOR]
        found += workload(space, service, command, PORTS[service], protocol=protocol, replicas=replicas)
        found.append(_retries(space, service, replicas - 1))
    way = route(space, "frontend", PORTS["frontend"], gateway=NAMESPACE, retries=_policy(replicas - 1))
    return [*found, *ingress_gateway(NAMESPACE), *way]


def _policy(attempts: int) -> Resource:
    return {"attempts": attempts, "retryOn": RETRIED} if attempts else {"attempts": 0}


def _retries(space: str, service: str, attempts: int) -> Resource:
    to = {"destination": {"host": service, "port": {"number": PORTS[service]}}}
    rules = [{"route": [to], "retries": _policy(attempts)}]
    return named("VirtualService", service, space, ISTIO, spec={"hosts": [service], "http": rules})

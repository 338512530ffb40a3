"""Services of one hop each behind a sidecar that anybody may call: with our filters, without, and without again."""

from benchmarks.experiments import BACKEND
from benchmarks.istio.ground import Ground, addresses
from cluster.control_plane import named

from cluster import shops

WITH, WITHOUT, CONTROL = "hop", "hop-bare", "hop-control"
PORT = 8080
SERVER = BACKEND.replace('"127.0.0.1", 0', f'"0.0.0.0", {PORT}')


def set_up_hops(at: Ground) -> None:
    for space in (WITH, WITHOUT, CONTROL):
        lenient = {"mtls": {"mode": "PERMISSIVE"}}  # the client has no sidecar
        at.api.apply(
            shops.namespace(space),
            named("PeerAuthentication", "default", space, "security.istio.io/v1", spec=lenient),
            *shops.workload(space, "echo", ["python", "-c", SERVER], PORT),
        )
    shops.wait_until_available(at.place, at.api)


def hop_address(at: Ground, space: str) -> tuple[str, int]:
    return addresses(at, space, "app=echo")[0], PORT

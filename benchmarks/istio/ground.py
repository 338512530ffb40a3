"""What the topics share: the laboratory that they run in, the command `cutset` as users type it, and plans by hand."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.api import Api, Resource
from cluster.control_plane import API_PORT, TOKEN
from cluster.processes import Place, wait_for

from cluster import shops
from cutset.inject.ecdsa import ecdsa_signer
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault

SHOP = "shop"
GATEWAY_PORT = 80
PATIENCE_SECONDS = 300  # for one command, on a busy machine


@dataclass(frozen=True, slots=True)
class Ground:
    """A laboratory from inside: topics run in its namespaces."""

    place: Place
    api: Api
    home: Path  # of the user who types `cutset`: keys, results

    @property
    def gateway(self) -> tuple[str, int]:
        return addresses(self, shops.GATEWAYS, "istio=ingress")[0], GATEWAY_PORT

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"XDG_CONFIG_HOME": str(self.home), "HOME": str(self.home)}


def ground(home: Path) -> Ground:
    run = Path(os.environ["CLUSTER_RUN"])
    api = Api.connect(f"https://127.0.0.1:{API_PORT}", TOKEN, run / "certificates/ca.crt")
    return Ground(Place(Path(os.environ["CLUSTER_BIN"]), run), api, home)


def addresses(at: Ground, space: str, labels: str) -> list[str]:
    """Of the pods that are ready."""
    pods = at.api.get(f"/api/v1/namespaces/{space}/pods?labelSelector={labels}")["items"]
    return [pod["status"]["podIP"] for pod in pods if shops.is_ready(pod)]


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Told:
    """What a command said, and how long it took."""

    code: int
    output: str
    errors: str
    seconds: float

    @property
    def json(self) -> Resource:
        answer: Resource = json.loads(self.output)
        return answer


def cutset(
    at: Ground,
    *arguments: str,
    expected: tuple[int, ...] = (0,),
    environment: Mapping[str, str] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Told:
    begin = time.monotonic()
    done = subprocess.run(
        (sys.executable, "-m", "cutset", *arguments),
        env=at.environment | (environment or {}),
        cwd=at.home,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )
    told = Told(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)
    if told.code not in expected:
        raise SystemExit(f"cutset {' '.join(arguments)} ended with {told.code}:\n{told.output}\n{told.errors}")
    return told


def private_key(at: Ground, environment: str = SHOP) -> bytes:
    """Made by `cutset install`."""
    return (at.home / "cutset/keys" / f"{environment}.pem").read_bytes()


def plan(pem: bytes, *faults: str, environment: str = SHOP, lives: float = 60, trace: str = "") -> dict[str, str]:
    """The headers of one request with these faults; none: the empty plan."""
    return plan_headers(
        frozenset(map(Fault.parse, faults)),
        trace_id=trace or secrets.token_hex(16),
        span_id=secrets.token_hex(8),
        key=ecdsa_signer(pem),
        environment=environment,
        expires=time.time() + lives,
    )


def set_up_shop(at: Ground) -> None:
    """The small shop of three services under strict mTLS, and the gateway in front of it."""
    at.api.apply(*shops.small_shop(SHOP), *shops.ingress_gateway(), *shops.route(SHOP, "frontend", 8080))
    shops.wait_until_available(at.place, at.api)


def restarts(at: Ground) -> int:
    """Of all containers of all pods."""
    pods = at.api.get("/api/v1/pods")["items"]
    statuses = [each for pod in pods for each in pod.get("status", {}).get("containerStatuses", ())]
    return sum(each["restartCount"] for each in statuses)


def eventually(what: str, holds: object, seconds: float = 60) -> None:
    wait_for(what, holds, "what it printed", seconds)  # type: ignore[arg-type]

"""The embedded shop: starts it behind a real mesh, and holds what a campaign found against its answer key."""

import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import yaml

import cutset_demo
from cutset.app.mesh import following
from cutset.errors import TargetError, UsageError
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.lineage.path import Level
from cutset.model.fault import points_of
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.terminal import describe_points
from cutset_demo.shop import SERVICES, free_addresses, missing_parts, run_shop

HOST = "127.0.0.1"
_SHOP_FOLDER = Path(cutset_demo.__file__).parent
EXPORT_SECONDS = 0.25  # the shop and its mesh export every 20 ms; the rest is for a busy machine
REPLICA_REQUEST = "GET /"  # what is explored replica by replica unless told otherwise: one request shows the idea


@dataclass(frozen=True, slots=True)
class Boutique:
    mesh: Mesh
    config_file: Path  # a cutset.yaml for `cutset explore`, good while the shop runs


@contextmanager
def run_boutique(replicas: int, key: bytes, store: Path) -> Iterator[Boutique]:
    if missing := missing_parts():
        raise UsageError(
            f"The demo needs packages that are not installed: {', '.join(missing)}",
            hint="Run `pip install 'cutset[demo]'`",
        )
    listen = free_addresses(replicas)
    http_port, grpc_port = free_ports(2)
    spec = MeshSpec(
        services=tuple(MeshService(name, protocol, tuple(listen[name])) for name, protocol in SERVICES.items()),
        entry="frontend",
        environment="demo",
        collector=f"{HOST}:{grpc_port}",
    )
    with ExitStack() as stack:
        work_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutset-demo-")))
        mesh = stack.enter_context(run_mesh(spec, key=key, work_dir=work_dir / "mesh"))
        collector = f"http://{HOST}:{http_port}"
        try:
            stack.enter_context(run_shop(listen, mesh.addresses, otlp_endpoint=collector, work_dir=work_dir / "shop"))
        except RuntimeError as error:
            raise TargetError(f"The shop did not start: {error}") from error
        mesh_file = _write_mesh(store / "demo", mesh)
        stack.enter_context(following(mesh_file, mesh))
        yield Boutique(mesh, _write_config(store / "demo", mesh, http_port, grpc_port))


def _write_config(folder: Path, mesh: Mesh, http_port: int, grpc_port: int) -> Path:
    """The same file that a user would write for a system of their own."""
    content = {
        "target": {
            "url": mesh.entry_url,
            "environment": mesh.spec.environment,
            "health": [address for service in mesh.spec.services for address in service.replicas],
        },
        "collector": {"host": HOST, "http_port": http_port, "grpc_port": grpc_port, "export_interval": EXPORT_SECONDS},
        "requests": yaml.safe_load((_SHOP_FOLDER / "requests.yaml").read_text()),
    }
    file = folder / "cutset.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


def _write_mesh(folder: Path, mesh: Mesh) -> Path:
    """What this mesh is like: `cutset harden` changes it there, and the mesh follows."""
    spec = mesh.spec
    services = {
        service.name: {"protocol": service.protocol, "port": service.port, "replicas": list(service.replicas)}
        for service in spec.services
    }
    content = {name: getattr(spec, name) for name in ("entry", "edge_port", "admin_port", "environment", "collector")}
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    file = folder / "mesh.yaml"
    file.write_text(yaml.safe_dump(content | {"services": services}, sort_keys=False))
    for kept in file.parent.glob(f"{file.name}.before*"):  # of an earlier shop, on other ports
        kept.unlink()
    return file


def answer_key(summary: CampaignSummary, level: Level, replicas: int) -> dict[str, set[Points]]:
    """The cuts that must be found in what was explored. At replica level an API fails when all its replicas do."""
    known = yaml.safe_load((_SHOP_FOLDER / "WEAKNESSES.yaml").read_text())["requests"]
    numbers = [str(number) for number in range(1, replicas + 1)] if level is Level.REPLICA else [""]

    def expand(cut: list[str]) -> Points:
        return frozenset(replace(Point.parse(text), replica=number) for text, number in product(cut, numbers))

    return {
        request.name: {cut for cut in map(expand, known[request.name]["cuts"]) if len(cut) <= summary.started.max_size}
        for request in summary.requests
    }


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """How findings and the answer key differ."""

    wrong: tuple[str, ...]  # missed, or not expected
    unfinished: tuple[str, ...]  # what the campaign does not claim to know, it has not missed
    expected: int  # cuts of the key


def check_answers(summary: CampaignSummary, expected: dict[str, set[Points]]) -> AnswerCheck:
    """A cut is not missed beyond the size up to which a request is complete, nor if it was predicted and not tried."""
    wrong: list[str] = []
    unfinished: list[str] = []
    for request in summary.requests:
        found = {points_of(finding.cut) for finding in request.findings}
        wrong += [f"unexpected: {request.name} {describe_points(cut)}" for cut in found - expected[request.name]]
        for cut in expected[request.name] - found:
            if len(cut) <= request.complete_up_to and cut not in request.predicted:
                wrong.append(f"missed: {request.name} {describe_points(cut)}")
            else:
                unfinished.append(f"not found yet: {request.name} {describe_points(cut)}")
        unfinished += [f"not complete: {request.name}: {reason}" for reason in _open_ends(request)]
    return AnswerCheck(tuple(sorted(wrong)), tuple(sorted(unfinished)), sum(map(len, expected.values())))


def _open_ends(request: RequestSummary) -> list[str]:
    if request.problem:
        return [request.problem]
    untried = ["cuts that are predicted to fail were not tried"] if request.predicted else []
    return [*untried, *(outcome.reason for outcome in request.undecided)]


def free_ports(count: int) -> list[int]:
    """For later: not of those that the system hands out to whoever connects meanwhile."""
    with ExitStack() as taken:
        ports: list[int] = []
        for port in random.sample(range(20_000, 32_000), 12_000):
            with suppress(OSError):
                taken.enter_context(socket.create_server((HOST, port)))
                ports.append(port)
            if len(ports) == count:
                break
        return ports

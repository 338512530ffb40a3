"""`cutset demo`: the whole story on the embedded shop."""

import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.markup import escape

import cutset_demo
from cutset.cli.explore import (
    AcrossRequestsOption,
    CertificatesOption,
    MaxExperimentsOption,
    MaxMinutesOption,
    MaxRoundsOption,
    MaxSizeOption,
    ParallelOption,
    PointsOption,
    StrategyOption,
    adjust,
    conclude,
    replay_command,
    run_campaign,
    run_replay,
)
from cutset.cli.mesh_changes import first_version, following
from cutset.cli.options import DEFAULT_STORE, JsonOption, RequestOption, StoreOption
from cutset.config.explore import KEY_VARIABLE, load_config
from cutset.errors import TargetError, UsageError
from cutset.inject.local.mesh import Mesh, MeshService, MeshSpec, run_mesh
from cutset.lineage.path import Level
from cutset.model.fault import points_of
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.report.campaign.summary import RequestSummary, Summary, summarise
from cutset.report.campaign.terminal import describe_points
from cutset_demo.shop import SERVICES, free_addresses, missing_parts, run_shop

HOST = "127.0.0.1"
_SHOP_FOLDER = Path(cutset_demo.__file__).parent
EXPORT_SECONDS = 0.25  # the shop and its mesh export every 20 ms; the rest is for a busy machine
REPLICA_REQUEST = "GET /"  # what `--points replica` explores unless told otherwise: one request shows the idea


def demo_command(
    request: RequestOption = None,
    points: PointsOption = None,
    max_size: MaxSizeOption = None,
    parallel: ParallelOption = None,
    strategy: StrategyOption = None,
    certificates: CertificatesOption = None,
    across_requests: AcrossRequestsOption = None,
    max_experiments: MaxExperimentsOption = None,
    max_rounds: MaxRoundsOption = None,
    max_minutes: MaxMinutesOption = None,
    replicas: Annotated[int, typer.Option("--replicas", min=1, max=5, help="Replicas of each service.")] = 2,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the shop running, with a page to break it.")] = False,
    replay: Annotated[str, typer.Option("--replay", help="Run one finding again.", metavar="ID")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Start a real shop behind a real Envoy mesh, find every minimal cut, and compare with the shop's answer key.

    Twelve services on Redis, PostgreSQL and NATS, all from Python wheels, all on this machine. Exits 0 when exactly the
    known weaknesses were found.

    Examples:

    - `cutset demo`: six request classes, cuts of up to three APIs
    - `cutset demo --points replica`: one request, down to single replicas
    - `cutset demo --strategy fastfi`: what the published algorithm finds of it
    - `cutset demo --keep`: then click through the shop and break it yourself
    """
    if points is Level.REPLICA and not request:
        request = [REPLICA_REQUEST]
    key = secrets.token_hex(32).encode()
    with run_boutique(replicas, key, store) as boutique:
        config = adjust(
            load_config(boutique.config_file),
            request,
            points,
            limits={
                "max_size": max_size,
                "parallel": parallel,
                "experiments": max_experiments,
                "rounds": max_rounds,
                "minutes": max_minutes,
            },
            search={"strategy": strategy, "certificates": certificates, "across_requests": across_requests},
        )
        if replay:
            raise typer.Exit(run_replay(config, key, store, replay, as_json=as_json))
        command = replay_command("cutset demo", {"--store": (store, DEFAULT_STORE)})
        counts = dict.fromkeys(SERVICES, replicas)
        campaign, events = run_campaign(config, key, store, replay=command, replicas=counts)
        conclude(campaign, events, as_json=as_json)
        summary = summarise(events)
        code = compare(summary, answer_key(summary, config.points, replicas))
        if keep:
            _keep_open(boutique, summary, key)
    raise typer.Exit(code)


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
    http_port, grpc_port = _free_ports(2)
    spec = MeshSpec(
        services=tuple(MeshService(name, protocol, tuple(listen[name])) for name, protocol in SERVICES.items()),
        entry="frontend",
        environment="demo",
        collector=f"{HOST}:{grpc_port}",
    )
    with ExitStack() as stack, ExitStack() as starting:
        starting.enter_context(Console(stderr=True).status("Starting 12 services, Redis, PostgreSQL, NATS and Envoy …"))
        work_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutset-demo-")))
        mesh = stack.enter_context(run_mesh(spec, key=key, work_dir=work_dir / "mesh"))
        collector = f"http://{HOST}:{http_port}"
        try:
            stack.enter_context(run_shop(listen, mesh.addresses, otlp_endpoint=collector, work_dir=work_dir / "shop"))
        except RuntimeError as error:
            raise TargetError(f"The shop did not start: {error}") from error
        config_file = _write_config(store / "demo", mesh, http_port, grpc_port)
        stack.enter_context(following(_write_mesh(store / "demo", mesh), mesh))
        starting.close()
        yield Boutique(mesh, config_file)


def _write_config(folder: Path, mesh: Mesh, http_port: int, grpc_port: int) -> Path:
    """The same file that a user would write for a system of their own."""
    requests = yaml.safe_load((_SHOP_FOLDER / "requests.yaml").read_text())
    content = {
        "target": {
            "url": mesh.entry_url,
            "environment": mesh.spec.environment,
            "health": [address for service in mesh.spec.services for address in service.replicas],
        },
        "collector": {"host": HOST, "http_port": http_port, "grpc_port": grpc_port, "export_interval": EXPORT_SECONDS},
        "requests": requests,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cutset.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return folder / "cutset.yaml"


def _write_mesh(folder: Path, mesh: Mesh) -> Path:
    """What this mesh is like: `cutset harden` changes it there, and the mesh follows."""
    spec = mesh.spec
    services = {
        service.name: {"protocol": service.protocol, "port": service.port, "replicas": list(service.replicas)}
        for service in spec.services
    }
    content = {name: getattr(spec, name) for name in ("entry", "edge_port", "admin_port", "environment", "collector")}
    file = folder / "mesh.yaml"
    file.write_text(yaml.safe_dump(content | {"services": services}, sort_keys=False))
    first_version(file).unlink(missing_ok=True)  # of an earlier shop, on other ports
    return file


def answer_key(summary: Summary, level: Level, replicas: int) -> dict[str, set[Points]]:
    """The cuts that must be found in what was explored. At replica level an API fails when all its replicas do."""
    known = yaml.safe_load((_SHOP_FOLDER / "WEAKNESSES.yaml").read_text())["requests"]
    numbers = [str(number) for number in range(1, replicas + 1)] if level is Level.REPLICA else [""]

    def expand(cut: list[str]) -> Points:
        return frozenset(replace(Point.parse(text), replica=number) for text, number in product(cut, numbers))

    return {
        request.name: {cut for cut in map(expand, known[request.name]["cuts"]) if len(cut) <= summary.started.max_size}
        for request in summary.requests
    }


def compare(summary: Summary, expected: dict[str, set[Points]]) -> int:
    """Says on standard error how the findings and the answer key differ; returns the exit code.

    What a campaign does not claim to know, it has not missed: cuts beyond the size up to which it is complete, and
    those that it predicted and did not try.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
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
        unfinished += [f"not complete: {request.name}: {reason}" for reason in _gaps(request)]
    for difference in sorted(wrong):
        console.print(f"[red]{escape(difference)}[/]")
    for gap in sorted(unfinished):
        console.print(f"[magenta]{escape(gap)}[/]")
    if wrong:
        console.print("[red]This is not what the answer key says[/]")
        return 1
    if not summary.complete:
        return 3
    console.print(f"[green]Exactly the {sum(map(len, expected.values()))} minimal cuts of the answer key[/]")
    return 0


def _gaps(request: RequestSummary) -> list[str]:
    if request.problem:
        return [request.problem]
    untried = ["cuts that are predicted to fail were not tried"] if request.predicted else []
    return [*untried, *(outcome.reason for outcome in request.undecided)]


def _keep_open(boutique: Boutique, summary: Summary, key: bytes) -> None:
    from cutset.inject.local.playground import playground, serve_playground

    (port,) = _free_ports(1)
    key_file = boutique.config_file.with_name("key")  # of this shop only, which ends with this process
    key_file.touch(mode=0o600)
    key_file.write_bytes(key)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"\nThe shop     {boutique.mesh.edge_url}")
    console.print(f"Break it     http://{HOST}:{port}/_cutset")
    console.print(f"Explore it   {KEY_VARIABLE}=$(cat {key_file}) cutset explore -c {boutique.config_file}")
    console.print(
        f"Harden it    {KEY_VARIABLE}=$(cat {key_file}) cutset harden -c {boutique.config_file} --apply local --verify"
    )
    console.print("Press Ctrl-C to stop")
    mesh = boutique.mesh
    points = frozenset(replace(point, replica="") for request in summary.requests for point in request.calls)
    app = playground(mesh.entry_url, points, key=key, environment=mesh.spec.environment)
    serve_playground(app, host=HOST, port=port)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]

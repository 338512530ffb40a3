"""The embedded shop: starts it behind a real mesh, and holds what a campaign found against its answer key."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import yaml

import cutset_demo
from cutset.app.mesh import following
from cutset.config.explore import Config, adjusted
from cutset.errors import TargetError, UsageError
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.lineage.path import Level
from cutset.model.effect import Effect, EffectChoice
from cutset.model.fault import Cut, Fault
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.terminal import describe_cut
from cutset_agent.launch import agent_environment
from cutset_demo.ports import HOST, free_port
from cutset_demo.shop import SERVICES, free_addresses, missing_parts, run_shop

_SHOP_FOLDER = Path(cutset_demo.__file__).parent
STORE_USERS = ("cache", "cart", "checkout", "productcatalog")  # of Redis, NATS and PostgreSQL
EFFECT_REQUESTS = ("POST /cart/checkout", "GET /product-meta/{id}")  # with several effects these have most to tell
EFFECT_SIZE = 2
EXPORT_SECONDS = 0.25  # the shop and its mesh export every 20 ms; the rest is for a busy machine
REPLICA_REQUEST = "GET /"  # what is explored replica by replica unless told otherwise: one request shows the idea


@dataclass(frozen=True, slots=True)
class Boutique:
    mesh: Mesh
    config_file: Path  # a cutset.yaml for `cutset explore`, good while the shop runs


@contextmanager
def run_boutique(replicas: int, key: bytes, store: Path, *, agents: bool = False) -> Iterator[Boutique]:
    """With `agents` in the services that use data stores, plans reach these calls too."""
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
            shop = run_shop(
                listen,
                mesh.addresses,
                otlp_endpoint=collector,
                work_dir=work_dir / "shop",
                agents={
                    service: _agent(service, key, spec.environment, collector) for service in STORE_USERS if agents
                },
            )
            stores = stack.enter_context(shop).datastores
        except RuntimeError as error:
            raise TargetError(f"The shop did not start: {error}") from error
        mesh_file = _write_mesh(store / "demo", mesh)
        stack.enter_context(following(mesh_file, mesh))
        yield Boutique(mesh, _write_config(store / "demo", mesh, stores, http_port, grpc_port))


def _agent(service: str, key: bytes, environment: str, collector: str) -> dict[str, str]:
    """Their calls to data stores pass no sidecar."""
    inherited = {"CUTSET_KEY": key.decode(), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return agent_environment(inherited, service=service, environment=environment, collector=collector)


def _write_config(folder: Path, mesh: Mesh, stores: Mapping[str, str], http_port: int, grpc_port: int) -> Path:
    """The same file that a user would write for a system of their own."""
    content = {
        "target": {
            "url": mesh.entry_url,
            "environment": mesh.spec.environment,
            "health": [address for service in mesh.spec.services for address in service.replicas],
        },
        "collector": {"host": HOST, "http_port": http_port, "grpc_port": grpc_port, "export_interval": EXPORT_SECONDS},
        "requests": yaml.safe_load((_SHOP_FOLDER / "requests.yaml").read_text()),
        "stores": {**stores, **mesh.addresses},
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


def answer_key(summary: CampaignSummary, level: Level, replicas: int, *, agents: bool = False) -> dict[str, set[Cut]]:
    """The cuts that must be found in what was explored. At replica level an API fails when all its replicas do; where a
    lost first attempt is fatal, any of them, since the retry meets another.

    With `agents` in the services that use data stores, what these stores can do is a part of it.
    """
    known = _weaknesses()["requests"]
    numbers = [str(number) for number in range(1, replicas + 1)] if level is Level.REPLICA else [""]

    started = summary.started

    def expand(cut: list[str]) -> Iterator[Cut]:
        faults = [Fault.parse(text) for text in cut]
        if level is Level.REPLICA and len(numbers) > 1 and len(cut) == 1 and faults[0].effect.attempts:
            yield from (frozenset({Fault(replace(faults[0].point, replica=number))}) for number in numbers)
        yield frozenset(
            replace(each, point=replace(each.point, replica=number)) for each, number in product(faults, numbers)
        )

    def is_asked_for(cut: Cut) -> bool:
        return len(cut) <= started.max_size and all(
            each.effect in started.effects.at(each.point) and (agents or not each.point.caller) for each in cut
        )

    def minimal(entry: Mapping[str, Any]) -> set[Cut]:
        cuts = {each for cut in _cuts(entry) for each in expand(cut) if is_asked_for(each)}
        return {cut for cut in cuts if not any(other < cut for other in cuts)}

    return {request.name: minimal(known[request.name]) for request in summary.requests}


def with_more_effects(config: Config) -> Config:
    """What is most telling of other effects than a 503: slow, unreadable, the first attempt alone, dead stores."""
    known = _weaknesses()
    rules = tuple((name, tuple(map(Effect.parse, texts))) for name, texts in known["effects_at"].items())
    choice = EffectChoice(tuple(map(Effect.parse, known["effects"])), rules)
    chosen = adjusted(config, requests=EFFECT_REQUESTS, limits={"max_size": EFFECT_SIZE})
    return replace(chosen, effects=choice)


def _weaknesses() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((_SHOP_FOLDER / "WEAKNESSES.yaml").read_text())
    return content


def _cuts(entry: Mapping[str, Any]) -> Iterator[list[str]]:
    """Each point of an entry of `more` has one of its effects."""
    yield from entry["cuts"]
    for effects_at in entry["more"]:
        yield from ([*each] for each in product(*([f"{p}:{e}" for e in effects] for p, effects in effects_at.items())))


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """How findings and the answer key differ."""

    wrong: tuple[str, ...]  # missed, or not expected
    unfinished: tuple[str, ...]  # what the campaign does not claim to know, it has not missed
    expected: int  # cuts of the key


def check_answers(summary: CampaignSummary, expected: dict[str, set[Cut]]) -> AnswerCheck:
    """A cut is not missed beyond the size up to which a request is complete, nor if it was predicted and not tried."""
    wrong: list[str] = []
    unfinished: list[str] = []
    for request in summary.requests:
        found = {finding.cut for finding in request.findings}
        wrong += [f"unexpected: {request.name} {describe_cut(cut)}" for cut in found - expected[request.name]]
        for cut in expected[request.name] - found:
            if len(cut) <= request.complete_up_to and cut not in request.predicted:
                wrong.append(f"missed: {request.name} {describe_cut(cut)}")
            else:
                unfinished.append(f"not found yet: {request.name} {describe_cut(cut)}")
        unfinished += [f"not complete: {request.name}: {reason}" for reason in _open_ends(request)]
    return AnswerCheck(tuple(sorted(wrong)), tuple(sorted(unfinished)), sum(map(len, expected.values())))


def _open_ends(request: RequestSummary) -> list[str]:
    if request.problem:
        return [request.problem]
    untried = ["cuts that are predicted to fail were not tried"] if request.predicted else []
    return [*untried, *(outcome.reason for outcome in request.undecided)]


def free_ports(count: int) -> list[int]:
    """For later: nobody who chooses as we do is given them meanwhile."""
    return [free_port() for _ in range(count)]

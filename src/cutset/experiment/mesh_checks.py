"""What the file of a local mesh, and whoever runs it, say of a set-up: pure, and before anything is sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cutset.inject.local.change import RunningMesh
from cutset.inject.local.envoy import LOOPBACK
from cutset.model.checkup import CheckupLine, note, well, wrong
from cutset.model.expect import split_address
from cutset.model.mesh import MeshSpec
from cutset.model.target import Receiver, Target

_HERE = {LOOPBACK, "localhost", "0.0.0.0", "::1", "::"}  # noqa: S104 -- compared with, not listened on


@dataclass(frozen=True, slots=True)
class MeshSituation:
    file: Path
    spec: MeshSpec  # as the file is now
    version: str  # of the file as it is now
    running: RunningMesh | None  # from this file


def mesh_checks(found: MeshSituation, target: Target, receiver: Receiver) -> list[CheckupLine]:
    if found.running is None:
        where = f"`cutset mesh up {found.file}`"
        return [
            wrong(
                "mesh",
                f"no mesh runs from `{found.file}`",
                f"Start it with {where}, or name the file of the mesh that runs with `--mesh`",
            )
        ]
    running, spec = found.running, found.spec
    entered = _entered(running, spec, target)
    return [_followed(found, running), *entered, *_traced(spec, receiver), *_colours(spec)]


def _followed(found: MeshSituation, running: RunningMesh) -> CheckupLine:
    file = found.file
    if running.problem:
        return wrong(
            "mesh",
            f"the mesh did not take over `{file}` as it is now: {running.problem}",
            f"Correct `{file}`, or start the mesh anew",
        )
    if running.seen != found.version:
        return note("mesh", f"the mesh has not taken over `{file}` as it is now", "Wait a moment")
    return well("mesh", f"runs from `{file}`")


def _entered(running: RunningMesh, spec: MeshSpec, target: Target) -> Iterator[CheckupLine]:
    if target.environment != spec.environment:
        yield wrong(
            "environment",
            f"`target.environment` is `{target.environment}`, and the mesh runs as `{spec.environment}`",
            f"Set `target.environment: {spec.environment}`",
            fatal=True,
        )
    if not running.keyed:
        yield wrong(
            "key",
            "the mesh was started without a key, so that it obeys no plan",
            "Start it anew with `CUTSET_KEY` in its environment, the same as here",
            fatal=True,
        )
    host, port = split_address(target.entry)
    if host in _HERE and port not in running.ports.values():
        where = "the edge of the mesh, which drops all plans" if port == running.edge_port else "not in this mesh"
        entry = running.ports.get(spec.entry)
        instead = f"`http://{LOOPBACK}:{entry}`" if entry else "the address of the service that users call"
        yield wrong("entry", f"`target.url`, `{target.url}`, is {where}", f"Set it to {instead}", fatal=True)


def _traced(spec: MeshSpec, receiver: Receiver) -> Iterator[CheckupLine]:
    ours = f"{receiver.host}:{receiver.grpc_port}"
    if not spec.collector:
        yield wrong(
            "collector",
            "the mesh exports no spans, so that nothing can be proved",
            f"Set `collector: {ours}` in the file of the mesh, and start the mesh anew",
            fatal=True,
        )
        return
    host, port = split_address(spec.collector)
    if host in _HERE and receiver.host in _HERE and port != receiver.grpc_port:
        yield wrong(
            "collector",
            f"the mesh exports its spans to `{spec.collector}`, and Cutset receives them on `{ours}`",
            "Give `collector.grpc_port` and the mesh's `collector` the same port; a mesh must be started anew for it",
            fatal=True,
        )


def _colours(spec: MeshSpec) -> Iterator[CheckupLine]:
    """What the mesh itself does to calls, so that findings are its own and not the application's."""
    limited = [f"{each.name} after {each.timeout_seconds:g} s" for each in spec.services if each.timeout_seconds]
    if limited:
        yield note(
            "timeouts",
            f"the mesh itself gives up on calls to {', '.join(limited)}: what takes longer fails, whatever callers do",
            "Remove `timeout_seconds` from the file of the mesh to see what callers do themselves",
        )
    retried = [f"{each.name} ({each.retries})" for each in spec.services if each.retries]
    if retried:
        yield note(
            "retries",
            f"the mesh itself retries calls, as its file says, to {', '.join(retried)}: callers see less of failures",
            "Set `retries: 0` in the file of the mesh to see what callers do themselves",
        )

"""Live requests of users: what the edge of a mesh must be able to do before these can be marked there."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from cutset.app.impact_learning import KnownCalls
from cutset.errors import TargetError, UsageError
from cutset.experiment.mesh_checks import MeshSituation
from cutset.experiment.trial import Bench
from cutset.impact.live import LiveTraffic, LocalEdge, marking_live
from cutset.inject.local.change import RunningMesh, not_running
from cutset.model.impact import ImpactStarted, Mark, UserKey

_OWN = "Or let Cutset send requests of its own: `--load 20`"


def markable_mesh(mesh: MeshSituation | None) -> RunningMesh:
    """Raises CutsetError unless a mesh runs whose edge can ask about requests."""
    if mesh is None:
        raise UsageError(
            "Live requests are marked at the edge of a mesh, and there is no file of one beside the configuration",
            hint=f"Give the configuration a section `mesh`, or put a `mesh.yaml` beside it. {_OWN}",
        )
    if mesh.running is None:
        raise not_running(mesh.file)
    if not mesh.running.edge_port:
        raise UsageError(
            f"The mesh of `{mesh.file}` has no edge, so that no request of a user comes in by it",
            hint=f"Name the service that users call as its `entry`, and start it anew. {_OWN}",
        )
    if not mesh.running.marking:
        raise TargetError(
            f"The mesh that runs from `{mesh.file}` cannot mark requests: an older version of Cutset started it",
            hint=f"Start it anew with `cutset mesh up {mesh.file}`",
        )
    return mesh.running


def users_told_apart(
    asked_for: UserKey, mesh: MeshSituation | None, *, at_gateway: bool = False
) -> tuple[UserKey, str]:
    """By what the edge tells users apart, unless something else is asked for; and what is to be said of that."""
    by_mesh = mesh.spec.users if mesh else UserKey()
    if not (asked_for.header or asked_for.cookie) or asked_for == by_mesh:
        return by_mesh, ""
    name = asked_for.header or asked_for.cookie
    note = f"a user, by `{name}`, is always in the same group, but only a part of their requests is marked: "
    if at_gateway:
        return asked_for, f"{note}gateways of Istio choose requests, not users"
    return asked_for, (
        f"{note}the mesh does not tell users apart by that. `users` in its file does, as `users: {{cookie: session}}`"
    )


def live_traffic(
    bench: Bench,
    mesh: MeshSituation | None,
    started: ImpactStarted,
    known: KnownCalls,
    run: str,
    *,
    may_mark: Callable[[], bool],
    on_mark: Callable[[Mark], None],
) -> AbstractAsyncContextManager[LiveTraffic]:
    running = markable_mesh(mesh)
    return marking_live(
        bench,
        started,
        LocalEdge(running.admin_url, run),
        address=running.marking,
        salt=run,
        apis=lambda: known.all,
        may_mark=may_mark,
        on_mark=on_mark,
    )

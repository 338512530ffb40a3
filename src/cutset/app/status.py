"""What `cutset status` does: looks at what is being injected from here, and at what is installed in a cluster."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutset.app.mesh import mesh_file_of
from cutset.errors import CutsetError
from cutset.guards.halting import HaltOrder, given_order
from cutset.inject.local.change import running_mesh
from cutset.inject.local.kill_switch import is_switched_off
from cutset.store.active import ActiveInjection, active_injections
from cutset.store.audit import AuditEntry, last_entry

if TYPE_CHECKING:
    from cutset.inject.istio.status import ClusterStatus

_POD_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


@dataclass(frozen=True, slots=True)
class ActiveRun:
    injection: ActiveInjection
    last: AuditEntry | None  # what it injected last


@dataclass(frozen=True, slots=True)
class LocalStatus:
    halted: HaltOrder | None
    running: tuple[ActiveRun, ...]
    mesh_off: bool  # whether the mesh beside the configuration is switched off


def local_status(store: Path, config_file: Path) -> LocalStatus:
    running = tuple(ActiveRun(each, last_entry(store, each.run)) for each in active_injections(store))
    return LocalStatus(given_order(store), running, _mesh_off(config_file))


def _mesh_off(config_file: Path) -> bool:
    with suppress(CutsetError, OSError):  # none runs, or it does not answer: then nothing is switched
        file = mesh_file_of(config_file)
        mesh = running_mesh(file) if file else None
        return bool(mesh and mesh.admin_url and is_switched_off(mesh.admin_url))
    return False


def is_cluster_known() -> bool:
    """Whether there is a kubeconfig, or we are a pod."""
    named = os.environ.get("KUBECONFIG", "")
    files = [Path(each) for each in named.split(os.pathsep) if each] or [Path.home() / ".kube" / "config"]
    return any(file.exists() for file in (*files, _POD_ACCOUNT))


async def installed_status(namespaces: Sequence[str] = (), context: str = "") -> "ClusterStatus":
    from cutset.inject.istio.status import cluster_status  # noqa: PLC0415 -- loads the client of Kubernetes
    from cutset.kubernetes.client import connected  # noqa: PLC0415

    async with connected(context) as cluster:
        return await cluster_status(cluster, namespaces)

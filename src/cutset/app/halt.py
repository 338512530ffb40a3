"""Ends all injection at once, as far as it can be reached from here, and says what could not be."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cutset.app.mesh import mesh_file_of
from cutset.config.explore import load_place
from cutset.errors import CutsetError
from cutset.guards.halting import HaltOrder, give_order, given_order, lift_order
from cutset.inject.istio.job import job_name
from cutset.inject.local.change import running_mesh
from cutset.inject.local.kill_switch import switch_off, switch_on
from cutset.process.whom import user_at_host
from cutset.store.active import ActiveInjection, active_injections


@dataclass(frozen=True, slots=True)
class Halted:
    order: HaltOrder | None  # that holds now; after lifting: that held. None: there is no store here
    repeated: bool  # it held before
    running: tuple[ActiveInjection, ...]  # that have been told
    meshes: tuple[str, ...]  # whose switch was turned, by their admin interface
    problems: tuple[str, ...]  # what could not be done
    elsewhere: str = ""  # what this does not reach, and how to end that


def halt(store: Path, config_file: Path, *, reason: str = "", admins: Sequence[str] = ()) -> Halted:
    """The store first: whatever is wrong with the rest, nothing that uses it begins another injection.

    With `admins`, the store may be another machine's: then none is made here.
    """
    before = given_order(store)
    order = before
    if store.is_dir() or not admins:
        order = give_order(store, HaltOrder(user_at_host(), time.time(), reason))
    meshes, problems = _switched(switch_off, config_file, admins)
    running = tuple(active_injections(store))
    return Halted(order, before is not None, running, meshes, problems, _in_cluster(config_file))


def lift(store: Path, config_file: Path, *, admins: Sequence[str] = ()) -> Halted:
    """The meshes first: what begins then finds them as they should be."""
    meshes, problems = _switched(switch_on, config_file, admins)
    order = lift_order(store)
    return Halted(order, order is not None, (), meshes, problems)


def _switched(
    switch: Callable[[str], None], config_file: Path, admins: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which were, and why others were not."""
    done, problems = [], []
    try:
        known = [*admins, *_beside(config_file)]
    except (CutsetError, OSError) as error:
        known, problems = [*admins], [f"`{config_file}` does not tell which mesh is beside it: {error}"]
    for admin in dict.fromkeys(known):
        try:
            switch(admin)
        except CutsetError as error:
            problems.append(error.message)
        else:
            done.append(admin)
    return tuple(done), tuple(problems)


def _beside(config_file: Path) -> Iterator[str]:
    file = mesh_file_of(config_file)
    mesh = running_mesh(file) if file else None
    if mesh and mesh.admin_url:
        yield mesh.admin_url


def _in_cluster(config_file: Path) -> str:
    """A Job has a store of its own, out of reach."""
    with suppress(CutsetError, OSError):
        config = load_place(config_file)
        if config.istio:
            job = f"kubectl delete job -n {config.istio.collector_namespace} {job_name(config.target.environment)}"
            namespaces = " ".join(f"-n {each}" for each in config.istio.namespaces)
            return (
                "A campaign that runs in the cluster (`explore --in-cluster`) has a store of its own and goes on: "
                f"`{job}` ends it, and forgets what it found. Plans under way end with their requests; "
                f"`cutset uninstall {namespaces}` makes all sidecars deaf to them"
            )
    return ""

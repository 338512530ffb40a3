"""Writes a first cutset.yaml: from what runs in a cluster, or from a mesh here and what people have of requests."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.app.survey import survey_traces
from cutset.config.explore import Config, load_config, load_mesh
from cutset.config.first_file import LocalEntry, entry_by, entry_service, first_text, request_lines, traced_requests
from cutset.config.sources import proposed_requests
from cutset.config.starter import entry_of, starter_text
from cutset.errors import CutsetError, UsageError
from cutset.inject.local.change import running_mesh
from cutset.model.cluster import ClusterView, IstioPlace
from cutset.model.steps import finished
from cutset.model.wording import quoted
from cutset.store.manifest import open_spans
from cutset.workload.sources.proposal import ProposedRequest

TRACES = "traces"  # as a source: those that `cutset ingest` has stored
_USUAL_SOURCES = ("recording", "openapi.yaml", "openapi.yml", "openapi.json")


@dataclass(frozen=True, slots=True)
class FirstFile:
    text: str
    requests: tuple[str, ...] = ()  # that the source told of, by their names


def refuse_existing(out: Path) -> None:
    if out.exists():
        hint = "Choose another with `--out`, or overwrite it with `--force`"
        raise UsageError(f"`{out}` is there already", hint=hint)


def write_config(out: Path, text: str) -> Config:
    """What was written, as every other command will read it; what cannot be read is not written."""
    draft = out.with_name(f".{out.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8")
        config = load_config(draft)
        draft.replace(out)
    except OSError as error:
        raise UsageError(f"Cannot write `{out}`: {error.strerror}", hint="Choose another with `--out`") from None
    finally:
        draft.unlink(missing_ok=True)
    return replace(config, path=out.absolute())


def entry_beside(folder: Path) -> LocalEntry | None:
    """Where the mesh of `mesh.yaml` in this folder is entered; None if there is none."""
    file = folder / "mesh.yaml"
    if not file.exists():
        return None
    spec = load_mesh(file)
    name = entry_service(spec)
    running = running_mesh(file.absolute())
    fixed = {service.name: service.port for service in spec.services}
    port = (running.ports.get(name, 0) if running else 0) or fixed[name]
    if not port:
        raise UsageError(
            f"Nobody knows yet on which port the mesh of `{file}` serves `{name}`",
            hint=f"Start it first (`cutset mesh up {file}`), give that service a `port`, or say `--url`",
        )
    return entry_by(spec, port)


def sources_beside(folder: Path, store: Path) -> list[str]:
    """What there is to take requests from, the most telling first."""
    found = [name for name in _USUAL_SOURCES if (folder / name).exists()]
    found[1:1] = sorted(path.name for path in folder.glob("*.har"))
    try:
        stored = bool(open_spans(store).spans)
    except CutsetError:
        stored = False
    return [*found, *([TRACES] if stored else [])]


@dataclass(frozen=True, slots=True)
class _Source:
    requests: tuple[ProposedRequest, ...] = ()
    named: str = ""  # as the file names it
    recorded: bool = False  # the requests stay there


def _read_source(source: str, out: Path, store: Path) -> _Source:
    """`source` is a path, `traces`, or nothing."""
    if not source:
        return _Source()
    if source == TRACES:
        return _Source(traced_requests(finished(survey_traces(store))), "stored traces")
    path = Path(source)
    named = os.path.relpath(path.absolute(), out.absolute().parent)
    return _Source(proposed_requests(path), named, path.is_dir() or path.suffix.lower() == ".har")


def propose_first(entry: LocalEntry, source: str, *, out: Path, store: Path) -> FirstFile:
    """Without a source `GET /` has to do."""
    found = _read_source(source, out, store)
    text = first_text(entry, found.requests, found.named, as_source=found.recorded)
    return FirstFile(text, _names(found.requests))


def _names(requests: Sequence[ProposedRequest]) -> tuple[str, ...]:
    return tuple(each.request.name for each in requests)


async def propose_config(
    namespaces: Sequence[str],
    *,
    context: str = "",
    environment: str = "",
    source: str = "",
    out: Path = Path(),
    store: Path = Path(),
) -> tuple[str, ClusterView]:
    """The text of a cutset.yaml, and what it was made from. Requests are those of the source, or of the routes."""
    found = _read_source(source, out, store)
    known = request_lines(found.requests, found.named, as_source=found.recorded) if source else []
    # The client of Kubernetes, which nobody else needs.
    from cutset.inject.istio.discovery import list_resources, view_of  # noqa: PLC0415
    from cutset.inject.istio.routes import routed_requests  # noqa: PLC0415
    from cutset.kubernetes.client import connected  # noqa: PLC0415

    async with connected(context) as cluster:
        listed = await list_resources(cluster, namespaces)
    if missing := set(namespaces) - {each["metadata"]["name"] for each in listed["Namespace"]}:
        raise UsageError(
            f"There is no namespace {quoted(sorted(missing))} in the cluster",
            hint="`kubectl get namespaces` lists those that there are; `--context` chooses another cluster",
        )
    view = view_of(listed, namespaces)
    entry = entry_of(view)
    if entry is None:
        raise UsageError(
            f"Nothing in {quoted(namespaces)} serves HTTP, so that there is nothing to explore",
            hint="Name the namespaces in which the services of your system are",
        )
    place = IstioPlace(tuple(namespaces), context, entry.gateway, entry.port)
    requests = routed_requests(listed, namespaces)
    return starter_text(place, entry, environment or namespaces[0], requests, view, known=known), view

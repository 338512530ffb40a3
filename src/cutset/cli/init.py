"""`cutset init`: a first cutset.yaml, from what is there."""

import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from cutset.app.init import (
    entry_beside,
    propose_config,
    propose_first,
    refuse_existing,
    sources_beside,
    write_config,
)
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ContextOption, EnvironmentOption, StoreOption
from cutset.cli.output import print_lines
from cutset.cli.run import run_async
from cutset.config.first_file import LocalEntry
from cutset.errors import UsageError
from cutset.model.cluster import ClusterView
from cutset.model.expect import is_url
from cutset.model.wording import count


def init_command(
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="Of Istio: where your services run; may be given several times."),
    ] = None,
    source: Annotated[
        str, typer.Option("--from", help="A recording, a HAR or OpenAPI file, or `traces`: where requests are from.")
    ] = "",
    url: Annotated[str, typer.Option("--url", help="Where experiments enter; by default by the mesh.yaml here.")] = "",
    context: ContextOption = "",
    environment: EnvironmentOption = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = DEFAULT_CONFIG,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take what is likeliest.")] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write a cutset.yaml from what is there. Changes nothing else, and sends nothing.

    With namespaces: what runs in a Kubernetes cluster with Istio, the ingress gateway that leads to it, and the
    requests that its routes name. Else: the mesh of the mesh.yaml beside the file, or `--url`, and requests out of a
    recording of `cutset record`, a HAR or OpenAPI file, or the traces of `cutset ingest`. On a terminal it asks what
    it cannot know. Comments in the file say what to change. A file that is there stays, unless you say `--force`.

    Examples:

    - `cutset init --from openapi.yaml`: ./cutset.yaml for the mesh of ./mesh.yaml
    - `cutset init --from visit.har --url http://127.0.0.1:9080 --yes`: in a script
    - `cutset init -n shop`: for what runs in namespace shop; with `--from openapi.yaml` requests out of that file
    - `cutset init -n shop -n payments --context staging --out staging.yaml`: two namespaces of another cluster
    """
    if not force:
        refuse_existing(out)
    if namespace:
        if url:
            raise UsageError("`--namespace` and `--url` are two ways to say where experiments enter", hint="Say one")
        proposing = propose_config(
            namespace, context=context, environment=environment, source=source, out=out, store=store
        )
        _from_cluster(namespace, proposing, out)
        return
    asks = not yes and is_terminal()
    entry = _entry(url, environment, out, asks=asks)
    chosen = source or _source(out, store, asks=asks)
    first = propose_first(entry, chosen, out=out, store=store)
    config = write_config(out, first.text)
    taken = {request.name for request in config.requests} & set(first.requests)
    found = f"{len(taken)} of {count(len(first.requests), 'request')} in {escape(chosen)}" if chosen else "no source"
    found += "" if taken else ", so `GET /`"
    told = f"[green]Wrote[/] {escape(str(out))}: {found}; entry by {escape(config.target.url)}"
    print_lines([told, "Read its comments; then `cutset doctor` and `cutset explore`"])


def is_terminal() -> bool:
    return sys.stdin.isatty()


def _entry(url: str, environment: str, out: Path, *, asks: bool) -> LocalEntry:
    if not url and (entry := entry_beside(out.absolute().parent)):
        return entry
    if not url and asks:
        url = typer.prompt("Where do experiments enter (the mesh's own address of the service that users call)")
    if not url:
        raise UsageError(
            f"There is no mesh.yaml beside `{out}`, so that nobody knows where experiments enter",
            hint="Say it with `--url http://127.0.0.1:9080`, write a mesh.yaml, or name namespaces of Istio with `-n`",
        )
    if not is_url(url):
        raise UsageError(f"--url: expected a URL such as `http://127.0.0.1:9080`, found `{url}`")
    return LocalEntry(url.rstrip("/"), environment or "local")


def _source(out: Path, store: Path, *, asks: bool) -> str:
    found = sources_beside(out.absolute().parent, store)
    likeliest = found[0] if found else ""
    if not asks:
        return str(out.parent / likeliest) if likeliest and likeliest != "traces" else likeliest
    known = f"; here: {', '.join(found)}" if found else ""
    wanted: str = typer.prompt(
        f"Where are requests from (a recording, a HAR or OpenAPI file, `traces`, or `none`{known})",
        default=likeliest or "none",
    )
    return "" if wanted == "none" else wanted


def _from_cluster(namespaces: list[str], proposing: Coroutine[Any, Any, tuple[str, ClusterView]], out: Path) -> None:
    text, view = run_async(proposing)
    config = write_config(out, text)
    entry = config.istio.gateway if config.istio and config.istio.gateway else config.target.url
    found = f"{count(len(view.services), 'service')}, {count(len(config.requests), 'request')}"
    told = [f"[green]Wrote[/] {escape(str(out))}: {found}, entry by {escape(entry)}"]
    told += [f"[yellow]![/] {escape(what)}: {escape(reason)}" for what, reason in view.uncovered]
    for name, meant in view.ambiguous:
        told.append(f"[red]x[/] {escape(name)} means {escape(meant)}: points cannot tell them apart")
    next_step = " ".join(("cutset install", *(f"-n {escape(name)}" for name in namespaces)))
    print_lines([*told, f"Read its comments; then `{next_step}`"])

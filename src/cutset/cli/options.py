"""Options that several commands have, with one name, one meaning and one default."""

from pathlib import Path
from typing import Annotated

import typer

from cutset.report.replaying import DEFAULT_CONFIG, DEFAULT_STORE

__all__ = ["DEFAULT_CONFIG", "DEFAULT_STORE"]

StoreOption = Annotated[Path, typer.Option("--store", help="The folder of what Cutset recorded.")]
ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="The configuration.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
RequestOption = Annotated[
    list[str] | None, typer.Option("--request", "-r", help="Only this request class; may be given several times.")
]

SinceOption = Annotated[str, typer.Option("--since", help="Only spans since then: `2026-11-16T03:00`, `6h` ago.")]
UntilOption = Annotated[str, typer.Option("--until", help="Only spans until then.")]
ByCallsOption = Annotated[
    bool, typer.Option("--by-calls", help="Tell requests of one name apart by the APIs that their first service calls.")
]
WorkersOption = Annotated[
    str,
    typer.Option("--workers", help="Processes, by default one per core; or a Dask scheduler, `dask://host:8786`."),
]
TopOption = Annotated[int, typer.Option("--top", min=1, help="How many to show.")]

NamespaceOption = Annotated[
    list[str], typer.Option("--namespace", "-n", help="Where your services run; may be given several times.")
]
ContextOption = Annotated[str, typer.Option("--context", help="Of the kubeconfig; by default the current one.")]
EnvironmentOption = Annotated[
    str, typer.Option("--environment", help="Part of every signature; by default the first namespace.")
]

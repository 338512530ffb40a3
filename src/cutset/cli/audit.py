"""`cutset audit`: what was injected, when, by whom."""

import time
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.audit import read_audit
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import print_document, print_lines
from cutset.model.moments import parse_moment_ns, show_moment
from cutset.store.audit import AuditEntry


def audit_command(
    run: Annotated[str, typer.Option("--run", help="Only of this run.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only since then: `2026-11-16T03:00`, `6h` ago.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Show each injection: when, by whom, in which run, which cut, in which trace. The oldest first.

    A line was written before the injection happened, in `audit.jsonl` of the store. The ten latest files of 16 MiB are
    kept. Requests and plans are not in it.

    Examples:

    - `cutset audit --since 1h`
    - `cutset audit --run 20261116-031500-482913 --json`: for a machine
    """
    begin = parse_moment_ns(since, time.time_ns()) / 1e9 if since else 0.0
    found = read_audit(store, run=run, since=begin)
    if as_json:
        print_document({"injections": [asdict(entry) for entry in found]})
    else:
        print_lines(map(_line, found))


def _line(entry: AuditEntry) -> str:
    group = f" [dim]{escape(entry.group)}[/]" if entry.group else ""
    return (
        f"{show_moment(round(entry.at * 1e9))} {escape(entry.by)} {escape(entry.loop)} {escape(entry.run)} "
        f"{escape(entry.environment)} [bold]{escape(entry.cut)}[/]{group} [dim]trace {escape(entry.trace_id)}[/]"
    )

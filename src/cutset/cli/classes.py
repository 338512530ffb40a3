"""`cutset classes`: which requests there are, what they call, and which are the most complex."""

import json
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console

from cutset.cli.options import (
    DEFAULT_STORE,
    ByCallsOption,
    JsonOption,
    SinceOption,
    StoreOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.survey import named, percent, print_table, printable, run_survey
from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import CallTree
from cutset.model.wording import count
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights
from cutset.survey.summary import ClassSummary, Survey

SHOWN_KINDS = 5


def classes_command(
    name: Annotated[str, typer.Argument(help="One class, to show what it calls and when.", metavar="CLASS")] = "",
    top: Annotated[int, typer.Option("--top", min=1, help="So many of the most complex.")] = 20,
    spans_weight: Annotated[float, typer.Option(min=0, max=1e9, help="What a span counts.")] = DEFAULT_WEIGHTS.spans,
    components_weight: Annotated[
        float, typer.Option(min=0, max=1e9, help="What a distinct service, data store or queue counts.")
    ] = DEFAULT_WEIGHTS.components,
    seconds_weight: Annotated[
        float, typer.Option(min=0, max=1e9, help="What a second counts.")
    ] = DEFAULT_WEIGHTS.seconds,
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """List the request classes of the stored traces, the most complex first: those are worth testing first.

    A class is named by its route or RPC method, else by its path, of which the parts that vary are learned. Its
    complexity is the mean of its traces': spans, distinct components and duration, weighted. With the name of a class:
    its most complex trace, its kinds of executions, the calls that it makes always, sometimes, or only after another
    failed, and the failures that it was seen to tolerate.

    Examples:

    - `cutset classes --top 10`: the short list
    - `cutset classes "GET /cart"`: what it calls, and when
    - `cutset classes --since 24h --workers 8`: of a day's traces
    - `cutset classes --json | jq '.classes[].name'`: all names
    """
    weights = Weights(spans_weight, components_weight, seconds_weight)
    survey = run_survey(store, since, until, workers, by_calls=by_calls, weights=weights)
    console = Console(highlight=False, soft_wrap=True)
    if name:
        summary = named(name, survey.classes, "class")
        if as_json:
            print(
                json.dumps(_class_document(name, summary, survey.traces, weights) | _calls_document(summary), indent=2)
            )
        else:
            _show_class(console, name, summary)
        return
    ranked = sorted(survey.classes.items(), key=lambda item: (-item[1].complexity(weights), item[0]))
    if as_json:
        documents = [_class_document(each, summary, survey.traces, weights) for each, summary in ranked]
        print(
            json.dumps(
                {"traces": survey.traces, "spans": survey.spans, "headless": survey.headless, "classes": documents},
                indent=2,
            )
        )
        return
    _show_classes(console, survey, ranked[:top], weights)


def _show_classes(console: Console, survey: Survey, ranked: list[tuple[str, ClassSummary]], weights: Weights) -> None:
    headings = ("complexity", "traces", "share", "failed", "kinds", "spans", "parts", "ms", "request class")
    rows = [
        (
            f"{summary.complexity(weights):.1f}",
            f"{summary.traces:,}",
            percent(summary.traces, survey.traces),
            percent(summary.failed, summary.traces),
            f"{len(summary.judged):,}",
            f"{summary.spans / summary.traces:.1f}",
            f"{summary.components / summary.traces:.1f}",
            f"{summary.total_ns / summary.traces / 1e6:,.1f}",
            name,
        )
        for name, summary in ranked
    ]
    print_table(console, headings, rows)
    console.print(
        f"\n{count(len(survey.classes), 'request class')} in {count(survey.traces, 'trace')} of "
        f"{count(survey.spans, 'span')}. Spans, parts (services, stores, queues) and ms are means.",
        style="dim",
    )
    if survey.headless:
        console.print(
            f"{count(survey.headless, 'more trace')} without a beginning: spans are missing, so the class is unknown.",
            style="dim",
        )
    if any(summary.named_by_span and len(summary.judged) > 1 for _, summary in ranked) and len(survey.classes) < 3:
        console.print(
            "Only the names of spans tell these requests apart; `--by-calls` also looks at what they call.", style="dim"
        )


def _show_class(console: Console, name: str, summary: ClassSummary) -> None:
    console.print(f"[bold]{printable(name)}[/]  {count(summary.traces, 'trace')}, {summary.failed:,} failed")
    console.print(f"most complex trace  {printable(summary.representative.trace_id)}", style="dim")
    if torn := sum(summary.torn.values()):
        used = "not used here" if summary.kinds else "and no trace is whole: take this with care"
        console.print(f"{count(torn, 'trace')} of which spans are missing, {used}", style="dim")
    console.print()
    headings = ("traces", "per trace", "failed", "tolerated", "made", "call")
    rows = [
        (
            percent(use.traces, summary.traces),
            f"{use.calls / use.traces:.1f}",
            f"{use.failures:,}" if use.failures else "",
            f"{use.tolerated:,}" if use.tolerated else "",
            use.role.replace("-", " "),
            f"{replace(use.callee, caller=use.caller.service)}{_instead_of(use)}",
        )
        for use in call_uses(summary.judged)
    ]
    print_table(console, headings, rows)
    kinds = sorted(summary.judged.items(), key=lambda item: (-item[1], item[0]))
    console.print(f"\n{count(len(kinds), 'kind')} of execution, by traces:")
    for tree, traces in kinds[:SHOWN_KINDS]:
        calls = sum(1 for _ in tree.edges())
        failed = [str(call.point) for call in tree.walk() if call.failed]
        but = f", failed: {', '.join(failed)}" if failed else ""
        console.print(f"  {traces:,} × {count(calls, 'call')}{printable(but)}")
    if len(kinds) > SHOWN_KINDS:
        console.print(f"  and {len(kinds) - SHOWN_KINDS:,} more; `--json` has all", style="dim")


def _instead_of(use: CallUse) -> str:
    return f"  when failed: {', '.join(map(str, sorted(use.instead_of)))}" if use.instead_of else ""


def _class_document(name: str, summary: ClassSummary, traces: int, weights: Weights) -> dict[str, Any]:
    return {
        "name": name,
        "complexity": round(summary.complexity(weights), 3),
        "traces": summary.traces,
        "share": summary.traces / traces,
        "failed": summary.failed,
        "torn": sum(summary.torn.values()),
        "kinds": len(summary.judged),
        "mean_spans": summary.spans / summary.traces,
        "mean_components": summary.components / summary.traces,
        "mean_ms": summary.total_ns / summary.traces / 1e6,
        "representative": {
            "trace_id": summary.representative.trace_id,
            "complexity": round(summary.representative.score, 3),
        },
    }


def _calls_document(summary: ClassSummary) -> dict[str, Any]:
    kinds = sorted(summary.judged.items(), key=lambda item: (-item[1], item[0]))
    return {
        "calls": [
            {
                "caller": str(use.caller),
                "callee": str(use.callee),
                "component": use.component,
                "when": use.role,
                "instead_of": sorted(map(str, use.instead_of)),
                "traces": use.traces,
                "calls": use.calls,
                "failures": use.failures,
                "tolerated": use.tolerated,
            }
            for use in call_uses(summary.judged)
        ],
        "executions": [{"traces": traces, "tree": _tree_document(tree)} for tree, traces in kinds],
    }


def _tree_document(tree: CallTree) -> dict[str, Any]:
    """Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that recursion is safe."""
    return {"call": str(tree.point), "failed": tree.failed, "calls": [_tree_document(call) for call in tree.calls]}

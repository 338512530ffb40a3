"""From traces to a report: a critical workflow mined (ART §3.2), each service and call of it failed for some users.

python -m benchmarks.impact workflow [--quick]

workflow_seconds   from reading the traces to the last page; `workflow_runs` impacts are in it
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.impact.hipster_system import ENTRY, GRPC, PATHS
from benchmarks.impact.live_runs import SETTINGS, explained, measure_live, progress
from benchmarks.impact.place import Place, run_place
from benchmarks.impact.users import UsersOrder

from cutset.app.impact_results import write_impact_page
from cutset.app.impact_workflow import targets_of, workflow_numbered
from cutset.app.ingest import ingest_traces
from cutset.app.source import spans_of
from cutset.app.survey import survey_traces
from cutset.config.explore import load_config
from cutset.model.span import Span
from cutset.model.steps import finished
from cutset.traces.otlp import line_from_spans

RATE = 150.0
RECORDED_SECONDS = 5.0
EXPORTED_SECONDS = 0.5


def measure(*, quick: bool) -> dict[str, object]:
    with (
        run_place(
            "benchmarks.impact.hipster_system:services", entry=ENTRY, grpc=GRPC, requests=PATHS, sections={}
        ) as place,
        tempfile.TemporaryDirectory() as folder,
    ):
        traces = Path(folder, "traces.jsonl")
        asyncio.run(_record(place, traces))
        begin = time.monotonic()
        finished(ingest_traces(place.store, [str(traces)]))
        workflow = workflow_numbered(finished(survey_traces(place.store)), 1)
        mined = time.monotonic() - begin
        parts = [part for (part,) in targets_of(workflow)][: 1 if quick else None]
        print(f"workflow 1: {' → '.join(workflow.services)}: {', '.join(parts)}", file=sys.stderr)
        order = UsersOrder(place.mesh.edge_url, PATHS, RATE)
        found = asyncio.run(
            measure_live(
                place,
                parts,
                lambda _: order,
                settings=replace(SETTINGS, during=8.0),
                first=order,
                workflow=1,
                on_event=progress(parts),
            )
        )
        for each in found.recorded:
            print(explained(each.impact), file=sys.stderr)
            write_impact_page(Path(folder, f"{each.impact.run}.html"), each)
        seconds = time.monotonic() - begin
    return {
        "workflow_seconds": round(seconds, 1),
        "workflow_mining_seconds": round(mined, 1),
        "workflow_runs": len(found.impacts),
        "workflow_verdicts": [str(impact.verdict) for impact in found.impacts],
    }


async def _record(place: Place, file: Path) -> None:
    """What the mesh tells of users' requests, as `cutset collect` writes it."""
    config = load_config(place.config_file)
    with file.open("w") as lines:

        def write(spans: Sequence[Span]) -> None:
            print(line_from_spans(spans), file=lines)

        async with spans_of(config.collector) as collector:
            collector.subscribe(write)
            await asyncio.to_thread(place.users.order, UsersOrder(place.mesh.edge_url, PATHS, RATE))
            await asyncio.sleep(RECORDED_SECONDS)
            await asyncio.to_thread(place.users.rest)
            await asyncio.sleep(EXPORTED_SECONDS)

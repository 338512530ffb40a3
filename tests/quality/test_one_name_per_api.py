"""An API has one name, whether experiments or ingested traces tell of it."""

import asyncio
from collections import defaultdict
from pathlib import Path

import pytest
from benchmarks.mesh_graph import collected

from cutset.app.ingest import ingest_traces
from cutset.app.survey import rank_apis, survey_traces
from cutset.experiment.route_names import RouteNames
from cutset.lineage.calls import called_point, is_mesh_span
from cutset.model.point import Point
from cutset.model.span import Span
from cutset.model.steps import finished
from cutset.select.rankings import Ranking
from cutset.traces.otlp import spans_from_json


@pytest.mark.parametrize("way", ["copied", "told"])
def test_explore_and_ingest_name_the_apis_of_a_real_mesh_alike(way: str, tmp_path: Path) -> None:
    file = asyncio.run(collected(way, tmp_path))
    finished(ingest_traces(tmp_path, [str(file)]))
    surveyed = finished(survey_traces(tmp_path, workers="1"))

    explored = named_in_experiments(file)

    assert explored == {Point(name, f"GET /{name}/*") for name in ("front", "cart", "stock", "ad")}
    assert set(rank_apis(surveyed)[Ranking.DYNAMIC]) == {point for point in explored if point.service != "front"}
    assert {call.point for tree in surveyed.kinds for call in tree.walk()} == explored


def named_in_experiments(file: Path) -> set[Point]:
    traces: defaultdict[str, list[Span]] = defaultdict(list)
    for line in file.read_bytes().splitlines():
        for span in spans_from_json(line):
            traces[span.trace_id].append(span)
    names, points = RouteNames(), set[Point]()
    for spans in traces.values():
        names.learn(spans)
        points |= {called_point(span).of_api for span in names.seen(spans) if is_mesh_span(span)}
    return points

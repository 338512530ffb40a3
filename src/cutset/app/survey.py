"""What `cutset classes`, `workflows`, `rank`, `endpoints` and `graph` do: survey the stored traces, then conclude."""

import random
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cutset.errors import TargetError, UsageError
from cutset.model.point import Point
from cutset.model.steps import finished
from cutset.model.survey import ClassSummary, Survey
from cutset.model.wording import did_you_mean, sentences
from cutset.report.drawing.graph import ServiceGraph, around, largest
from cutset.report.drawing.service_graph import service_graph_svg
from cutset.report.survey.graph import graph_of
from cutset.report.survey.rank import Scores
from cutset.select.api_rank import Preference
from cutset.select.endpoints import EndpointChoice, choose_endpoints
from cutset.select.rankings import Ranking, rankings
from cutset.select.workflows import CriticalWorkflows, critical_workflows
from cutset.store.manifest import SpanStore, open_spans
from cutset.store.parquet import END_OF_TIME_NS
from cutset.store.place import address_of
from cutset.store.shapes import Totals, totals
from cutset.survey.conclusions import concluded_from
from cutset.survey.run import PartsRead, SurveySettings, survey_all
from cutset.survey.workers import without_collector


def survey_traces(
    store: Path,
    *,
    since_ns: int = 0,
    until_ns: int | None = None,
    workers: str = "",
    settings: SurveySettings = SurveySettings(),  # noqa: B008 -- it is frozen
) -> Generator[PartsRead, None, Survey]:
    """All stored traces of that time. Says how far it is; `model.steps.finished` waits for the survey that it returns.

    `workers` is a number of processes, by default one per core, or the address of a Dask scheduler.
    """
    stored = open_spans(store)
    if not stored.spans:
        raise no_traces(store)
    until_ns = END_OF_TIME_NS if until_ns is None else until_ns
    result = yield from survey_all(stored, since_ns, until_ns, settings, workers)
    if not result.traces:
        raise UsageError(
            f"No traces in `{address_of(store)}` are of that time",
            hint="`cutset traces` shows of which time there are some",
        )
    return result


def class_named(surveyed: Survey, name: str) -> ClassSummary:
    if name not in surveyed.classes:
        hint = sentences(did_you_mean(name, surveyed.classes, most=3), "`cutset classes` lists them")
        raise UsageError(f"There is no class `{name}`", hint=hint)
    return surveyed.classes[name]


def find_workflows(
    surveyed: Survey,
    *,
    name: str = "",
    min_share: float = 0.01,
    min_services: int = 2,
    max_services: int = 5,
    top: int = 10,
    overlapping: bool = False,
    stores: bool = True,
    front_ends: Sequence[str] = (),
) -> CriticalWorkflows:
    """ART's critical workflows, of all request classes or of the one of this name; the other options are those of
    `select.workflows.critical_workflows`."""
    kinds = class_named(surveyed, name).judged if name else surveyed.kinds
    for service in front_ends:
        _require_service(service, (call.point.service for tree in kinds for call in tree.walk()))
    find = partial(
        critical_workflows,
        kinds.items(),
        min_share=min_share,
        min_services=min_services,
        max_services=max_services,
        top=top,
        overlapping=overlapping,
        stores=stores,
        front_ends=tuple(front_ends),
    )
    return concluded_from(surveyed, CriticalWorkflows, (name, find.keywords), find)


def rank_apis(surveyed: Survey, preference: Preference = Preference.UNIFORM) -> Scores:
    scores = concluded_from(
        surveyed, dict[Ranking, dict[Point, float]], (preference,), lambda: rankings(surveyed.kinds, preference)
    )
    if not scores[Ranking.DYNAMIC]:
        raise UsageError("No trace has a call from one service to another", hint="`cutset classes` shows what there is")
    return scores


@without_collector()
def find_endpoints(surveyed: Survey, *, top: int = 20, services_each: int = 3, seed: int = 0) -> EndpointChoice:
    rng = random.Random(seed)  # noqa: S311 -- no secret
    return choose_endpoints(surveyed, classes=top, services_each=services_each, rng=rng)


def service_graph(surveyed: Survey, name: str = "", workflows: CriticalWorkflows | None = None) -> ServiceGraph:
    """Of all request classes, or of one. Highlighted is the first of the `workflows`, if they were found already."""
    classes = [class_named(surveyed, name)] if name else surveyed.classes.values()
    found = workflows or find_workflows(surveyed, name=name, top=1)
    highlighted = next(iter(found.workflows), None)
    draw = partial(graph_of, [summary.judged for summary in classes], highlighted)
    return concluded_from(surveyed, ServiceGraph, (name, highlighted), draw)


def part_of_graph(graph: ServiceGraph, *, centre: str = "", hops: int = 1, top: int | None = None) -> ServiceGraph:
    """Around one service, and of that the `top` services by traffic."""
    if centre:
        _require_service(centre, (node.name for node in graph.nodes))
        graph = around(graph, centre, hops)
    return graph if top is None else largest(graph, top)


def _require_service(name: str, known: Iterable[str]) -> None:
    if name not in (services := set(known)):
        hint = sentences(did_you_mean(name, services, most=3), "`cutset graph --json` lists them")
        raise UsageError(f"There is no service `{name}`", hint=hint)


def draw_graph(graph: ServiceGraph, out: Path, title: str) -> None:
    try:
        out.write_text(service_graph_svg(graph, title=title))
    except OSError as error:
        raise TargetError(f"Cannot write `{out}`: {error.strerror}", hint="Choose another file with `--out`") from None


@dataclass(frozen=True, slots=True)
class StudiedTraces:
    """All that is concluded from stored traces, with the options that commands have by default."""

    stored: SpanStore
    totals: Totals
    survey: Survey
    workflows: CriticalWorkflows
    scores: Scores | None  # None: no service calls another
    graph: ServiceGraph


def study_traces(store: Path, tell: Callable[[PartsRead], object] = lambda _: None) -> StudiedTraces:
    """Raises UsageError if there are none."""
    stored = open_spans(store)
    surveyed = finished(survey_traces(store), tell)
    try:
        scores = rank_apis(surveyed)
    except UsageError:
        scores = None
    workflows = find_workflows(surveyed)
    graph = service_graph(surveyed, workflows=workflows)
    return StudiedTraces(stored, totals(stored), surveyed, workflows, scores, graph)


def no_traces(store: Path) -> UsageError:
    return UsageError(f"There are no traces in `{address_of(store)}`", hint="Read some with `cutset ingest SOURCE…`")

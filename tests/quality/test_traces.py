"""Whether a survey concludes from traces what is true of the generated systems that they are of."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from benchmarks.request_classes import PROFILES, Profile
from benchmarks.trace_generator import ClassTruth, generate, truth
from benchmarks.trace_writers import FORMATS, write

from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import CallTree, Role
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind
from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.store.manifest import open_spans
from cutset.store.ranges import trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import SurveySettings, survey
from cutset.traces.files.read import read_file
from cutset.traces.tally import ReadTally

SMALL = replace(PROFILES["small"], failure_rate=0.01)  # so that few traces show many failures
SEEDS = (1, 2)
TRACES = 500  # so many that each class is seen ten times and more
WITHOUT_STATUS = {"nezha", "alibaba-2021"}


@lru_cache
def drawn(seed: int, profile: Profile = SMALL, traces: int = TRACES) -> tuple[tuple[Span, ...], ...]:
    return tuple(tuple(trace) for trace in islice(generate(seed, profile), traces))


def spans_of(traces: Iterable[Sequence[Span]]) -> list[Span]:
    return [span for trace in traces for span in trace]


def surveyed(*files: Iterable[Span], spans_per_range: int = 300_000) -> Survey:
    with TemporaryDirectory() as folder:
        with begin_ingest(Path(folder)) as ingest:
            for number, spans in enumerate(files):
                ingest.add(f"file {number}", spans)
        ranges = trace_ranges(open_spans(Path(folder)), spans_per_range)
        return finished(survey(ranges, SurveySettings(), None))


@lru_cache
def survey_of_seed(seed: int) -> Survey:
    return surveyed(spans_of(drawn(seed)))


def uses(found: Survey, seed: int) -> list[tuple[ClassTruth, dict[Point, list[CallUse]]]]:
    """Of each class that there is, what is found out about the APIs that it calls."""
    pairs = []
    for known in truth(seed, SMALL):
        by_api: dict[Point, list[CallUse]] = {}
        for use in call_uses(found.classes[known.name].kinds):
            by_api.setdefault(use.callee, []).append(use)
        pairs.append((known, by_api))
    return pairs


def kinds_of(found: Survey) -> dict[str, dict[CallTree, int]]:
    """All but the times, which some formats round."""
    return {name: of_class.kinds for name, of_class in found.classes.items()}


def with_role(by_api: dict[Point, list[CallUse]], role: Role) -> set[Point]:
    """For fallbacks, all callers must use it as one; that a call is always made, one caller can ensure."""
    judge = all if role is Role.AFTER_FAILURE else any
    return {api for api, of_api in by_api.items() if judge(use.role is role for use in of_api)}


def with_some_lost(seed: int, share: float) -> list[Span]:
    chance = Random(seed)
    return [span for span in spans_of(drawn(seed)) if chance.random() >= share]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_request_classes_are_found_and_no_others(seed: int) -> None:
    assert set(survey_of_seed(seed).classes) == {known.name for known in truth(seed, SMALL)}


@pytest.mark.parametrize("format", sorted(set(FORMATS) - WITHOUT_STATUS))
def test_every_format_that_tells_all_gives_the_same(format: str, tmp_path: Path) -> None:  # noqa: A002
    traces = drawn(1)[:100]
    write(traces, format, tmp_path / "traces")

    assert kinds_of(surveyed(read_file(tmp_path / "traces", ReadTally(), None, None))) == kinds_of(
        surveyed(spans_of(traces))
    )


def test_the_order_of_spans_and_their_spread_over_files_do_not_matter() -> None:
    spans = spans_of(drawn(1))
    Random(1).shuffle(spans)

    assert surveyed(spans[::3], spans[1::3], spans[2::3], spans[:999], spans_per_range=9999) == survey_of_seed(1)


def test_clocks_that_are_off_do_not_matter() -> None:
    skewed = surveyed(spans_of(drawn(1, replace(SMALL, clock_skew_ns=50_000_000))))

    assert kinds_of(skewed) == kinds_of(survey_of_seed(1))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_call_is_invented(seed: int) -> None:
    for known, by_api in uses(survey_of_seed(seed), seed):
        assert set(by_api) <= known.apis, known.name


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_that_only_failures_prevent_are_made_always(seed: int) -> None:
    for known, by_api in uses(survey_of_seed(seed), seed):
        assert with_role(by_api, Role.ALWAYS) >= known.always, known.name


def test_nothing_else_is_taken_for_a_fallback() -> None:
    for seed in SEEDS:
        for known, by_api in uses(survey_of_seed(seed), seed):
            assert with_role(by_api, Role.AFTER_FAILURE) <= known.after_failure, known.name


def test_most_fallbacks_that_occurred_are_found_with_what_they_call() -> None:
    occurred = found = 0
    for seed in SEEDS:
        for known, by_api in uses(survey_of_seed(seed), seed):
            occurred += len(known.after_failure & set(by_api))
            found += len(known.after_failure & with_role(by_api, Role.AFTER_FAILURE))

    assert found >= 0.5 * occurred > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_seen_to_be_tolerated_is(seed: int) -> None:
    for known, by_api in uses(survey_of_seed(seed), seed):
        tolerated = {api for api, of_api in by_api.items() if any(use.tolerated for use in of_api)}
        assert tolerated <= known.tolerated, known.name


@pytest.mark.parametrize("seed", SEEDS)
def test_lost_spans_cost_knowledge_but_create_little(seed: int) -> None:
    found = uses(surveyed(with_some_lost(seed, 0.01)), seed)
    invented = sum(len(set(by_api) - known.apis) for known, by_api in found)
    always = sum(len(known.always & with_role(by_api, Role.ALWAYS)) for known, by_api in found)

    assert invented <= 0.05 * sum(len(by_api) for _, by_api in found)
    assert always >= 0.75 * sum(len(known.always) for known, _ in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_lost_spans_create_no_fallbacks(seed: int) -> None:
    for known, by_api in uses(surveyed(with_some_lost(seed, 0.05)), seed):
        assert with_role(by_api, Role.AFTER_FAILURE) <= known.after_failure, known.name


def span(
    trace: int, number: int, parent: int, service: str, kind: SpanKind, *, error: bool = False, **http: str
) -> Span:
    names = {"method": "http.request.method", "path": "url.path", "route": "http.route", "peer": "peer.service"}
    start_ns = 1_767_571_200_000_000_000 + trace * 1_000_000_000 + number * 1_000_000
    attributes = {names[key]: value for key, value in http.items()}
    ids = (f"{trace + 1:032x}", f"{number:016x}", f"{parent:016x}" if parent else "")
    return Span(*ids, service, "any", kind, start_ns, start_ns + 500_000_000 // number, error, attributes)


def test_an_outage_is_one_of_the_service_that_is_called_otherwise() -> None:
    def page(trace: int, *, reached: bool) -> list[Span]:
        path = f"/carts/{trace}"
        spans = [
            span(trace, 1, 0, "shop", SpanKind.SERVER, method="GET", route="/"),
            span(trace, 2, 1, "shop", SpanKind.CLIENT, error=not reached, method="GET", path=path, peer="cart.default"),
        ]
        if reached:
            spans.append(span(trace, 3, 2, "cart", SpanKind.SERVER, method="GET", path=path, route="/carts/{id}"))
        return spans

    found = surveyed(spans_of(page(trace, reached=trace % 10 > 0) for trace in range(60)))
    (use,) = call_uses(found.classes["GET /"].kinds)

    assert (str(use.callee), use.role, use.failures, use.tolerated) == ("cart/GET /carts/*", Role.ALWAYS, 6, 6)


def test_a_failure_that_a_retry_made_up_for_was_not_tolerated() -> None:
    def page(trace: int, *, again: bool) -> list[Span]:
        call = {"method": "GET", "path": "/cart", "peer": "cart"}
        spans = [span(trace, 1, 0, "shop", SpanKind.SERVER, method="GET", route="/")]
        if again:
            spans.append(span(trace, 2, 1, "shop", SpanKind.CLIENT, error=True, **call))
        return [*spans, span(trace, 3, 1, "shop", SpanKind.CLIENT, **call)]

    found = surveyed(spans_of(page(trace, again=trace % 10 == 0) for trace in range(60)))
    (use,) = call_uses(found.classes["GET /"].kinds)

    assert (use.role, use.failures, use.tolerated) == (Role.ALWAYS, 6, 0)

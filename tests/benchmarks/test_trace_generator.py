import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import pytest
from benchmarks.request_classes import PROFILES, Profile
from benchmarks.trace_generator import DAY_NS, START_NS, ClassTruth, generate, limited, truth

from cutset.model.point import Point
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind

SMALL = PROFILES["small"]
PRODUCTION = PROFILES["production"]
FAILING = replace(SMALL, failure_rate=0.02)


@lru_cache
def drawn(count: int, profile: Profile = SMALL, seed: int = 1) -> list[list[Span]]:
    return list(islice(generate(seed, profile), count))


def point_of(span: Span) -> Point:
    known = {name: str(span.attributes.get(name, "")) for name in KEPT_ATTRIBUTES}
    api = (
        known["rpc.method"].rpartition("/")[2]
        or f"{known['http.request.method']} {known['url.path']}".strip()
        or f"{known['db.operation.name']} {known['db.collection.name']}".strip()
        or f"{known['messaging.operation.name']} {known['messaging.destination.name']}"
    )
    return Point(known["peer.service"], api)


def calls_in(trace: list[Span]) -> list[Span]:
    return [span for span in trace if span.kind in (SpanKind.CLIENT, SpanKind.PRODUCER)]


def by_class(traces: list[list[Span]], classes: list[ClassTruth]) -> dict[ClassTruth, list[list[Span]]]:
    patterns = {known: re.compile(re.sub(r"\\\{id\\}|\\\*", "[^/]+", re.escape(known.name))) for known in classes}
    found = defaultdict(list)
    for trace in traces:
        request = f"{trace[0].attributes['http.request.method']} {trace[0].attributes['url.path']}"
        (known,) = (known for known, pattern in patterns.items() if pattern.fullmatch(request))
        found[known].append(trace)
    return found


def test_equal_seeds_give_equal_traces_and_others_give_others():
    assert drawn(50) == list(islice(generate(1, SMALL), 50))
    assert drawn(50) != drawn(50, seed=2)


def test_traces_are_drawn_one_by_one_and_generators_do_not_disturb_each_other():
    expected = drawn(10)
    one, other = generate(1, SMALL), generate(1, SMALL)
    for trace in expected:
        assert next(one) == trace
        assert next(other) == trace


def test_a_number_of_spans_ends_with_a_whole_trace():
    traces = list(limited(generate(1, SMALL), 500))
    assert 500 <= sum(map(len, traces)) < 500 + len(traces[-1])


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_trace_is_one_tree_with_the_root_first_and_callers_before_what_they_call(profile):
    ids = Counter()
    for trace in drawn(100, profile):
        seen = {""}
        assert [span.parent_id for span in trace].count("") == 1
        for span in trace:
            assert span.parent_id in seen
            assert span.trace_id == trace[0].trace_id
            seen.add(span.span_id)
            ids[span.span_id] += 1
        ids[trace[0].trace_id] += 1
    assert set(ids.values()) == {1}


def test_a_call_lies_within_its_caller_unless_clocks_are_skewed():
    def outside(profile: Profile) -> int:
        count = 0
        for trace in drawn(100, profile):
            spans = {span.span_id: span for span in trace}
            for span in trace[1:]:
                parent = spans[span.parent_id]
                count += not parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns
        return count

    assert outside(SMALL) == 0
    assert outside(replace(SMALL, clock_skew_ns=50_000_000)) > 100


@pytest.mark.parametrize("seed", range(3))
def test_traces_are_heavy_tailed(seed):
    sizes = sorted(len(trace) for trace in drawn(1000, PRODUCTION, seed))
    assert 10 <= sizes[500] <= 30
    assert 150 <= sizes[990] <= 700
    assert sizes[-1] > 20 * sizes[500]


def test_few_classes_are_most_of_the_traffic():
    classes = list(truth(1, FAILING))
    traces = by_class(drawn(2000, FAILING), classes)
    assert len(traces[classes[0]]) > 3 * len(traces[classes[5]]) > 0


def test_requests_come_in_order_more_by_day_than_by_night():
    starts = [trace[0].start_ns for trace in drawn(1000, replace(SMALL, requests_per_second=0.01))]
    hours = Counter((start - START_NS) * 24 // DAY_NS for start in starts)
    assert starts == sorted(starts)
    assert sum(hours[hour] for hour in range(12, 18)) > 2 * sum(hours[hour] for hour in range(6))


def test_a_share_of_the_entry_services_says_its_route_and_paths_hold_ids_of_all_kinds():
    roots = [trace[0] for trace in drawn(1000, PRODUCTION, seed=0)]
    routed = {root.service for root in roots if "http.route" in root.attributes}
    assert len(routed) == len({root.service for root in roots}) * PRODUCTION.routed
    paths = " ".join(str(root.attributes["url.path"]) for root in roots)
    for kind in (r"/\d+\b", r"/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-", r"/[a-z]+-[a-z]+-[a-z]+\b"):
        assert re.search(kind, paths)


def test_spans_bear_the_attributes_that_cutset_keeps_and_the_pod_they_ran_in():
    spans = [span for trace in drawn(300) for span in trace]
    told = {*KEPT_ATTRIBUTES, "service.instance.id"} - {"cutset.sidecar"}  # there is none
    assert {name for span in spans for name in span.attributes} == told
    assert all(str(span.attributes["service.instance.id"]).startswith(span.service) for span in spans)
    assert {span.kind for span in spans} == {*SpanKind} - {SpanKind.CONSUMER}


def test_calls_of_services_are_seen_from_both_sides_unless_they_failed_on_the_way():
    unreached = 0
    for trace in drawn(1000, FAILING):
        served = {span.parent_id for span in trace if span.kind is SpanKind.SERVER}
        for span in calls_in(trace):
            is_store = "db.system.name" in span.attributes or "messaging.system" in span.attributes
            assert not (is_store and span.span_id in served)
            if not is_store and span.span_id not in served:
                assert span.error
                unreached += 1
    assert unreached > 10


def test_without_failures_a_class_makes_the_calls_that_the_truth_says():
    seen, missed = set(), set()
    for known, traces in by_class(drawn(2000, FAILING), list(truth(1, FAILING))).items():
        for trace in traces:
            assert trace[0].service == known.entry
            if not any(span.error for span in trace):
                made = {point_of(span) for span in calls_in(trace)}
                assert known.always <= made <= known.always | known.sometimes
                seen |= {(known.name, point) for point in known.sometimes & made}
                missed |= {(known.name, point) for point in known.sometimes - made}
    assert len(seen & missed) > 20


def test_only_failures_lead_to_the_calls_that_the_truth_says_come_after_them():
    classes = list(truth(1, FAILING))
    seen = set()
    for known, traces in by_class(drawn(2000, FAILING), classes).items():
        for trace in traces:
            made = {point_of(span) for span in calls_in(trace)}
            assert made <= known.apis
            if made & known.after_failure:
                assert any(span.error for span in calls_in(trace))
                seen |= made & known.after_failure
    assert seen


def test_callers_bear_the_failures_that_the_truth_calls_tolerated():
    borne = set()
    for known, traces in by_class(drawn(2000, FAILING), list(truth(1, FAILING))).items():
        for trace in traces:
            spans = {span.span_id: span for span in trace}
            failed = defaultdict(list)
            for span in calls_in(trace):
                if span.error:
                    failed[span.parent_id].append(point_of(span))
            for caller, points in failed.items():
                if not spans[caller].error:
                    assert known.tolerated >= set(points)
                    borne |= set(points)
                elif spans[caller].parent_id:  # the entry may also fail by itself
                    assert known.fatal & set(points)
    assert len(borne) > 10


def test_few_apis_are_shared_by_as_many_classes_as_in_production():
    classes = list(truth(1, PRODUCTION))
    sharing = Counter(point for known in classes for point in known.apis).most_common(5)
    for (_, count), share in zip(sharing, PRODUCTION.shared_apis, strict=True):
        assert count == pytest.approx(share * len(classes), abs=2)


def test_classes_have_distinct_names():
    names = [known.name for known in truth(1, PRODUCTION)]
    assert len(set(names)) == len(names) == PRODUCTION.classes


def test_a_million_services_are_called_and_none_is_made_before():
    profile = PROFILES["million"]
    services = {span.service for trace in drawn(100, profile) for span in trace}
    numbers = {int(name.rpartition("-")[2]) for name in services if name.startswith("business")}
    assert max(numbers) > 500_000
    first = next(truth(1, profile))
    assert first.always
    assert {point.service.split("-")[0] for point in first.apis} <= {"business", "database", "cache"}

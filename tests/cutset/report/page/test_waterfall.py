import re
from dataclasses import replace

from tests.samples.evidence import FAULTED, HEALTHY, HOSTILE, span

from cutset.model.evidence import EvidenceKept, KeptSpan, Teller
from cutset.report.page.waterfall import DEEPEST, in_milliseconds, in_order, waterfalls


def drawn(*traces: EvidenceKept) -> str:
    return str(waterfalls([(f"Trace {number}", each) for number, each in enumerate(traces)]))


def rows(page: str) -> list[str]:
    return re.findall(r"<li.*?</li>", page, re.DOTALL)


def ordered(*spans: KeptSpan) -> list[tuple[str, int]]:
    return [(each.id, depth) for each, depth in in_order(spans)]


def test_the_call_that_the_fault_happened_to_says_so_and_so_does_each_failure() -> None:
    entry, told, faulted = rows(drawn(FAULTED))

    assert "✗ cart/GetCart:abort(503)" in faulted
    assert "grpc 14 failed" in faulted
    assert "500 failed" in entry
    assert "✗" not in entry + told


def test_traces_side_by_side_have_one_scale_of_time() -> None:
    page = drawn(FAULTED, HEALTHY)

    assert page.count("<span>21 ms</span>") == 2
    assert "left: 4.76%; width: 95.24%" in rows(page)[0]
    assert "left: 4.76%; width: 19.05%" in rows(page)[3]


def test_names_are_text_whatever_they_say() -> None:
    page = drawn(FAULTED)

    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE not in page


def test_what_services_tell_is_there_for_whoever_asks() -> None:
    page = drawn(FAULTED, HEALTHY)

    assert "Also what services tell of these calls: 1 more span" in page
    assert [row for row in rows(page) if 'class="told"' in row] == [rows(page)[1]]
    assert "checkbox" not in drawn(HEALTHY)


def test_parts_come_after_the_call_that_they_are_part_of_in_the_order_of_time() -> None:
    told = {"teller": Teller.SERVICE}
    spans = (
        span(1, 0, "web", "GET /"),
        span(2, 1, "web", "GET /", **told),
        span(3, 2, "cart", "GetCart"),
        span(4, 2, "ad", "GetAds"),
        span(5, 3, "cart", "cache/redis/get", teller=Teller.AGENT),
    )

    assert ordered(*spans) == [("1", 0), ("2", 1), ("3", 1), ("5", 2), ("4", 1)]


def test_spans_that_are_in_each_other_are_all_shown_once() -> None:
    circle = (span(1, 2, "a", "x"), span(2, 1, "b", "y"), span(3, 3, "c", "z", teller=Teller.SERVICE))

    assert sorted(ordered(*circle)) == [("1", 0), ("2", 1), ("3", 0)]


def test_a_deep_trace_leaves_room_for_names() -> None:
    deep = replace(HEALTHY, spans=tuple(span(n, n - 1, "s", "x") for n in range(1, 400)))

    assert f"--depth: {DEEPEST}" in rows(drawn(deep))[-1]
    assert len(rows(drawn(deep))) == 399


def test_what_is_missing_is_told() -> None:
    assert "No span of it was kept." in drawn(replace(FAULTED, spans=()))
    assert "Not kept: 7 later spans" in drawn(replace(FAULTED, left_out=7))
    unmarked = replace(FAULTED, spans=FAULTED.spans[:1])
    assert "The span that tells of the fault is not among those that were kept." in drawn(unmarked)
    assert "not among" not in drawn(HEALTHY)


def test_times_are_as_exact_as_they_are_telling() -> None:
    assert [in_milliseconds(each) for each in (0, 15, 4567, 123_456, 2_345_678)] == [
        "0 ms",
        "0.015 ms",
        "4.57 ms",
        "123 ms",
        "2.35 s",
    ]


def test_a_call_that_nobody_waited_for_had_no_answer() -> None:
    given_up = replace(FAULTED, spans=(span(1, 0, "cart", "GetCart", status="0", error=True),))

    assert "no answer failed" in drawn(given_up)

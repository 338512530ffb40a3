import pytest

from cutset.inject.marking.trace_context import trace_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SHORT = "0" * 16 + TRACE[16:]


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"traceparent": f"00-{TRACE}-{SPAN}-01"}, (TRACE, SPAN)),
        ({"traceparent": f"00-{TRACE.upper()}-{SPAN.upper()}-00"}, (TRACE, SPAN)),
        ({"uber-trace-id": f"{TRACE}:f067aa0ba902b7:0:1"}, (TRACE, SPAN)),
        ({"uber-trace-id": f"{TRACE[16:]}%3A{SPAN}%3A0%3A1"}, (SHORT, SPAN)),
        ({"b3": f"{TRACE}-{SPAN}-1-{SPAN}"}, (TRACE, SPAN)),
        ({"b3": f"{TRACE[16:]}-{SPAN}"}, (SHORT, SPAN)),
        ({"x-b3-traceid": TRACE, "x-b3-spanid": SPAN}, (TRACE, SPAN)),
        ({"x-b3-traceid": TRACE}, (TRACE, "")),
        ({"x-datadog-trace-id": str(int(TRACE[16:], 16)), "x-datadog-parent-id": str(int(SPAN, 16))}, (SHORT, SPAN)),
        ({"traceparent": f"00-{TRACE}-{'0' * 16}-01"}, (TRACE, "")),
        ({"traceparent": f"00-{TRACE}-{SPAN}-01", "b3": f"{'1' * 32}-{'2' * 16}-1"}, (TRACE, SPAN)),
        ({"traceparent": "nonsense", "b3": f"{TRACE}-{SPAN}-1"}, (TRACE, SPAN)),
    ],
)
def test_the_trace_of_any_tracer_is_found(headers, found):
    assert trace_of(headers) == found


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"traceparent": f"00-{'0' * 32}-{SPAN}-01"},
        {"b3": "0"},
        {"x-b3-spanid": SPAN},
        {"uber-trace-id": "x:y"},
        {"x-datadog-trace-id": str(2**64)},
    ],
)
def test_what_names_no_trace_is_none(headers):
    assert trace_of(headers) is None

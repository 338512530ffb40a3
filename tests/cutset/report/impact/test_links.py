import pytest

from cutset.errors import UsageError
from cutset.report.impact.links import trace_link


@pytest.mark.parametrize(
    ("base", "link"),
    [
        ("jaeger+http://jaeger:16686/", "http://jaeger:16686/trace/1f"),
        ("tempo+https://tempo:3200", "https://tempo:3200/api/traces/1f"),
        ("https://grafana/explore?id={trace}&x", "https://grafana/explore?id=1f&x"),
        ("", ""),
    ],
)
def test_a_trace_is_linked_to_where_it_can_be_looked_at(base: str, link: str) -> None:
    assert trace_link(base, "1f") == link


@pytest.mark.parametrize("base", ["http://jaeger:16686", "javascript:alert('{trace}')", "jaeger+file:///etc"])
def test_what_is_no_address_of_traces_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match="does not say where a trace is"):
        trace_link(base, "1f")


def test_an_id_cannot_leave_its_place_in_the_address() -> None:
    assert trace_link("http://j/{trace}", '"><a/../?') == "http://j/%22%3E%3Ca%2F..%2F%3F"

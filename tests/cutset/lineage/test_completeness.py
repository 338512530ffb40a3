from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.samples.agent_traces import agent_call, agent_request, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.completeness import (
    Instrumentation,
    extended,
    instrumentation_of,
    is_abandoned,
    is_closed,
    missing_part,
    without_agent,
    without_entry,
)
from cutset.model.call_site import AgentCallSite
from cutset.model.span import Span, SpanKind

SPANS = trace(Made("a/A", [Made("b/B", failed_attempts=1)]), Made("ad/GetAds", status=14, flags="FI"))
KNOWN = Instrumentation(telling=frozenset({"frontend", "a", "b"}), silent=frozenset())


def of_mesh(service: str, spans: Sequence[Span]) -> Span:
    return next(span for span in spans if span.attributes.get("cutset.service") == service)


def without(lost: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    return [span for span in spans if span not in lost]


def hung_up(flags: str, after_milliseconds: int) -> list[Span]:
    """The caller of `b`, which was to be delayed by 100 ms, waited for so long and no longer."""
    changed = []
    for span in trace(Made("a/A"), Made("b/B", status=4)):
        if span.attributes.get("cutset.service") == "b":
            attributes = {name: value for name, value in span.attributes.items() if name != "grpc.status_code"}
            attributes |= {"response_flags": flags, "http.status_code": "0", "cutset.fault": "delay(100ms)"}
            end_ns = span.start_ns + after_milliseconds * 1_000_000
            span = replace(span, end_ns=end_ns, attributes=attributes)  # noqa: PLW2901 - a copy of it
        changed.append(span)
    return changed


def test_a_whole_trace_is_closed():
    assert is_closed(SPANS, ROOT, KNOWN)
    assert missing_part(SPANS, ROOT, KNOWN) == ""


@pytest.mark.parametrize("missing", range(len(SPANS)))
def test_a_trace_without_any_one_of_its_spans_is_open(missing):
    assert not is_closed(SPANS[:missing] + SPANS[missing + 1 :], ROOT, KNOWN)


def test_a_path_is_not_whole_without_the_spans_that_show_its_calls():
    entry, cart = of_mesh("frontend", SPANS), of_mesh("a", SPANS)
    own = next(span for span in SPANS if span.service == "a")

    assert missing_part(without([entry], SPANS), ROOT, KNOWN) == "the mesh's span of the request itself"
    assert missing_part(without([cart], SPANS), ROOT, KNOWN) == "the mesh's span of the call 'name' by 'caller'"
    assert missing_part(without([own], SPANS), ROOT, KNOWN) == "the span by which 'a' itself tells of its answer"


def test_services_tell_of_everything_when_each_call_has_their_spans_on_both_sides():
    assert instrumentation_of(SPANS) == KNOWN


def test_of_services_that_were_never_let_through_to_nothing_is_known():
    found = instrumentation_of(SPANS)

    assert "ad" not in found.telling | found.silent


def test_a_service_without_spans_of_its_own_is_silent():
    spans = [span for span in trace(Made("a/A"), Made("b/B")) if span.service != "b"]

    assert instrumentation_of(spans) == Instrumentation(frozenset({"frontend", "a"}), silent=frozenset({"b"}))


def test_a_service_that_does_not_tell_of_its_calls_is_silent():
    spans = trace(Made("a/A", [Made("b/B")]))
    server = next(span for span in spans if span.service == "a")
    client = next(span for span in spans if span.parent_id == server.span_id)
    handed_on = [
        replace(span, parent_id=server.span_id) if span.parent_id == client.span_id else span
        for span in without([client], spans)
    ]

    assert instrumentation_of(handed_on) == Instrumentation(frozenset({"frontend", "b"}), silent=frozenset({"a"}))


def test_a_trace_with_a_silent_service_is_never_closed_but_its_path_may_be_whole():
    spans = [span for span in trace(Made("a/A"), Made("b/B")) if span.service != "b"]
    known = instrumentation_of(spans)

    assert not is_closed(spans, ROOT, known)
    assert missing_part(spans, ROOT, known) == ""


def test_a_service_that_the_baseline_did_not_call_is_waited_for_but_not_insisted_on():
    spans = trace(Made("a/A"), Made("fallback/F"))
    own = [span for span in spans if span.service == "fallback"]

    assert not is_closed(spans, ROOT, KNOWN)  # an agent in it may have more to tell
    assert is_closed(spans, ROOT, extended(KNOWN, spans))
    assert not is_closed(without(own, spans), ROOT, KNOWN)
    assert missing_part(without(own, spans), ROOT, KNOWN) == ""


@pytest.mark.parametrize("flags", ["DI,DC", "DI,DR"])
def test_a_call_that_was_given_up_while_held_back_never_reached_the_application(flags):
    spans = [span for span in hung_up(flags, after_milliseconds=50) if span.service != "b"]

    assert is_closed(spans, ROOT, KNOWN)
    assert not is_abandoned(spans)
    assert "b" not in instrumentation_of(spans).silent


@pytest.mark.parametrize("flags", ["DI,DC", "DI,DR", "DC", "DR"])
def test_an_application_that_was_given_up_on_is_waited_for(flags):
    spans = hung_up(flags, after_milliseconds=150)
    own = [span for span in spans if span.service == "b"]

    assert is_closed(spans, ROOT, KNOWN)
    assert not is_abandoned(spans)
    assert not is_closed(without(own, spans), ROOT, KNOWN)
    assert is_abandoned(without(own, spans))
    assert missing_part(without(own, spans), ROOT, KNOWN) == ""


def test_what_a_process_lost_when_it_died_is_on_no_path():
    spans = trace(Made("a/A"), Made("b/B", [Made("c/C", status=14, flags="FI")], status=14, flags="UC"))
    server = next(span for span in spans if span.service == "b")
    lost = [server, *(span for span in spans if span.parent_id == server.span_id)]

    assert not is_closed(without(lost, spans), ROOT, KNOWN)
    assert missing_part(without(lost, spans), ROOT, KNOWN) == ""


def test_calls_that_never_pass_the_mesh_are_not_expected_in_it():
    stored = replace(SPANS[1], span_id="f" * 16, parent_id=SPANS[1].span_id, kind=SpanKind.CLIENT, attributes={})

    assert is_closed([*SPANS, stored], ROOT, KNOWN)


def test_a_cycle_of_parents_does_not_hang():
    spans = trace(Made("a/A"))
    looped = [*spans[:2], *(replace(span, parent_id=span.span_id) for span in spans[2:])]

    assert "a" in instrumentation_of(looped).silent


AGENT_TRACE = trace(Made("a/A", [Made("b/B")]))
AGENT_OWN = serving("a", AGENT_TRACE).span_id


def of_agent(calls: str, *told: Span) -> list[Span]:
    """The trace with an agent in `a`, which counted so many calls and told of these."""
    return [*AGENT_TRACE, agent_request("r", of_mesh("a", AGENT_TRACE).span_id, service="a", calls=calls), *told]


def get(span_id: str) -> Span:
    return agent_call(span_id, AGENT_OWN, "cache/redis/get", service="a")


def test_a_service_has_an_agent_if_it_tells_of_every_request():
    known = instrumentation_of(of_agent("1", get("x")))

    assert known.agents == {"a"}
    assert known.telling == {"frontend", "a", "b"}


def test_an_agents_spans_must_be_there_up_to_the_request_itself():
    whole = of_agent("1", get("x"))
    known = instrumentation_of(whole)
    without_request = [span for span in whole if span.span_id != "r"]

    assert is_closed(whole, ROOT, known)
    assert not is_closed(without_request, ROOT, known)
    assert missing_part(without_request, ROOT, known) == "the span by which the agent of 'a' tells of its request"


def test_an_agent_says_how_many_calls_there_were():
    known = instrumentation_of(of_agent("1", get("x")))

    assert missing_part(of_agent("2", get("x")), ROOT, known) == "a call that the agent of 'a' has counted"
    assert not is_closed(of_agent("2", get("x")), ROOT, known)
    assert not missing_part(of_agent("1", get("x"), get("y")), ROOT, known)  # one that ended later


def test_an_agents_span_does_not_stand_for_the_services_own():
    whole = of_agent("0")
    known = instrumentation_of(whole)
    own = next(span for span in whole if span.span_id == AGENT_OWN)

    assert missing_part(without([own], whole), ROOT, known) == "the span by which 'a' itself tells of its answer"


def test_services_with_an_agent_alone_are_not_silent():
    mesh = of_mesh("a", AGENT_TRACE)
    entry = of_mesh("frontend", AGENT_TRACE)
    call = agent_call("c", "w", "rpc/grpc/A", service="frontend", times=(mesh.start_ns, mesh.end_ns))
    spans = [
        entry,
        agent_request("w", entry.span_id, service="frontend", calls="1"),
        call,
        replace(mesh, parent_id="c"),
        agent_request("r", mesh.span_id, service="a", calls="0"),
    ]
    known = instrumentation_of(spans)

    assert known == Instrumentation(frozenset(), frozenset(), agents=frozenset({"frontend", "a"}))
    assert is_closed(spans, ROOT, known)
    lost = without([spans[3], spans[4]], spans)
    assert missing_part(lost, ROOT, known) == "the mesh's span of the call 'rpc/grpc/A' by 'frontend' to "
    third_party = replace(known, beyond=frozenset({AgentCallSite("frontend", "rpc/grpc/A")}))
    assert not missing_part(lost, ROOT, third_party)


def test_replicas_without_an_agent_are_told_where_others_have_one():
    first, second = of_agent("0"), [span for span in of_agent("0") if span.span_id != "r"]
    other = [replace(span, attributes={**span.attributes, "cutset.replica": "2"}) for span in second]

    assert without_agent([first, other]) == {"a": frozenset({"2"})}
    assert without_agent([first, second]) == {}  # the same replica: it has one, and its span was lost
    assert without_agent([second]) == {}


def test_an_agent_that_tells_of_calls_and_never_of_requests_is_known():
    told = [*AGENT_TRACE, get("x")]

    assert without_entry([told, told]) == {"a"}
    assert without_entry([told, of_agent("1", get("x"))]) == frozenset()  # it was lost
    assert without_entry([AGENT_TRACE]) == frozenset()

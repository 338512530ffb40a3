"""Whether pods really answer is in tests/istio."""

import pytest

from cutset.inject.istio.asking import ProbeReply, reply_in, traces_in, why_waiting
from cutset.model.cluster import Resource


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ({"status": 204, "headers": {"x-cutset-probe": "a/b/pod-1/v"}}, ProbeReply("pod-1", "v", trace="t")),
        ({"status": 403}, ProbeReply(otherwise="an AuthorizationPolicy keeps our collector out (403)")),
        ({"status": 404}, ProbeReply(otherwise="the filter does not answer for it (status 404)")),
        ({"status": 0, "error": "refused"}, ProbeReply(otherwise="it does not answer: refused")),
    ],
)
def test_what_an_answer_means(answer: Resource, reply: ProbeReply) -> None:
    assert reply_in(answer, "t") == reply


def test_spans_are_known_by_their_traces() -> None:
    line = b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "AB"}, {"traceId": "cd"}]}]}]}'
    assert traces_in(line) == {"ab", "cd"}
    assert traces_in(b"\n") == traces_in(b"[]") == traces_in(b'{"cutset": "cut off"}') == set()


def test_what_a_collector_waits_for_is_told() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull"}}}
    assert why_waiting([{"status": {"containerStatuses": [waiting]}}]) == "`ErrImagePull`"
    assert why_waiting([{}]) == "its containers have not started"
    assert why_waiting([]) == "it has no pod"

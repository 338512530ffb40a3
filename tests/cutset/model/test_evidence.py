from tests.samples.campaign import cut

from cutset.model.evidence import EvidenceKept, KeptAnswer, KeptSpan, Teller, evidence_of
from cutset.model.fault import BASELINE
from cutset.model.span import SpanKind


def kept(request: str, *faults: str, trace_id: str = "t") -> EvidenceKept:
    return EvidenceKept(request=request, cut=cut(*faults), trace_id=trace_id)


def test_of_a_request_and_a_cut_what_was_kept_last_counts() -> None:
    healthy, first, again = kept("GET /"), kept("GET /", "ad/Get", trace_id="1"), kept("GET /", "ad/Get", trace_id="2")
    events = [healthy, first, kept("GET /cart", "ad/Get"), again, "another event"]

    assert evidence_of(events, "GET /", cut("ad/Get")) is again
    assert evidence_of(events, "GET /") is healthy
    assert evidence_of(events, "GET /cart", BASELINE) is None


def test_an_answer_without_text_is_text_only_if_it_is_empty() -> None:
    assert KeptAnswer(204, "", "", 0, 0.1).is_text
    assert KeptAnswer(200, "text/plain", "x", 1, 0.1).is_text
    assert not KeptAnswer(200, "image/png", "", 9, 0.1).is_text


def test_what_services_tell_is_no_call_of_its_own_unless_a_fault_happened_there() -> None:
    def told(teller: Teller, fault: str = "") -> bool:
        return KeptSpan("1", "", teller, "cart", "GET", SpanKind.CLIENT, 0, 1, fault=fault).is_call

    assert (told(Teller.MESH), told(Teller.AGENT), told(Teller.SERVICE)) == (True, True, False)
    assert told(Teller.SERVICE, fault="web>cart/GET:timeout")

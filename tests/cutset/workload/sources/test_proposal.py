from cutset.model.request import Request, Step
from cutset.workload.sources.proposal import ProposedRequest


def test_nothing_speaks_against_a_request_unless_it_is_said():
    proposed = ProposedRequest(Request("GET /", Step("GET", "/")))
    assert (proposed.about, proposed.doubt, proposed.held_back) == ("", "", "")

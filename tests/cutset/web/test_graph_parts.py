import htpy as h
import pytest
from tests.samples.campaign import EVENTS, MIXED, choice, cut

from cutset.model.outcome import Verdict
from cutset.report.campaign.explanation import ExplainedRequest, prepare
from cutset.report.campaign.graph import campaign_graph, marks_of
from cutset.search.certificates import Explanation
from cutset.web.graph_parts import (
    CALM_SHOWN,
    Question,
    answers_list,
    cuts_to_look_at,
    failing_list,
    legend,
    list_of_points,
    marks_of_answers,
    said_of,
    trial_form,
)

QUESTION = Question("run", "", cut("cart/GetCart"))


def rendered(*nodes: h.Node) -> str:
    return str(h.div[nodes])


def explained(request: str, verdict: Verdict) -> ExplainedRequest:
    return ExplainedRequest(request, QUESTION.cut, Explanation(verdict, None, "because"))


def test_an_address_says_all_that_was_asked() -> None:
    asked = Question("run", "GET /", cut("cart/GetCart", "ad/GetAds:timeout"))

    assert asked.address == (
        "/graph?campaign=run&request=GET+%2F&cut=ad%2FGetAds%3Atimeout&cut=cart%2FGetCart%3Aabort%28503%29"
    )
    assert asked.with_cut(frozenset()) == "/graph?campaign=run&request=GET+%2F"


def test_where_several_effects_are_tried_each_call_that_fails_has_a_choice() -> None:
    html = rendered(failing_list(QUESTION, choice("abort(503)", "timeout")))
    assert html.count("<option") == 2
    assert 'value="cart/GetCart:timeout"' in html

    assert "<select" not in rendered(failing_list(QUESTION, choice("abort(503)")))


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([Verdict.FAILED], "0: fails."),
        ([Verdict.FAILED, Verdict.SURVIVED, Verdict.FAILED], "Of 3 request classes, fails: 2, survives: 1."),
        ([Verdict.UNKNOWN, Verdict.DEGRADED], "Of 2 request classes, not known: 1, degraded: 1."),
    ],
)
def test_what_becomes_of_all_is_one_sentence(verdicts: list[Verdict], said: str) -> None:
    answers = [explained(str(number), verdict) for number, verdict in enumerate(verdicts)]

    assert said_of(answers, QUESTION.cut) == said
    assert said_of(answers, frozenset()) == "Nothing fails."


def test_the_worst_is_told_first_and_those_that_survive_are_folded_away() -> None:
    calm = [explained(f"calm-{number}", Verdict.SURVIVED) for number in range(CALM_SHOWN + 1)]
    html = rendered(answers_list([*calm, explained("worst", Verdict.FAILED)], QUESTION, {}))

    assert html.index("worst") < html.index("<details") < html.index("calm-0")
    assert "<details" not in rendered(answers_list(calm[:CALM_SHOWN], QUESTION, {}))


def test_cuts_to_begin_with_are_told_once_with_how_many_requests_they_fail() -> None:
    summary = prepare(EVENTS).summary
    html = rendered(cuts_to_look_at([*summary.findings, *summary.findings], QUESTION, summary.started.effects))

    assert "GET / and 1 more request" in html
    assert html.count(">cart/GetCart</a>") == 1
    assert rendered(cuts_to_look_at([], QUESTION, summary.started.effects)) == "<div></div>"


def test_signs_have_words_beside_them() -> None:
    graph = campaign_graph(MIXED)
    marks = marks_of(graph)

    assert "fatal alone" in rendered(legend(graph.placed.graph, marks))
    assert "not called by this request" not in rendered(legend(graph.placed.graph, marks))
    points = rendered(list_of_points(graph.placed, marks))
    assert points.count('type="checkbox"') == len(graph.points)
    assert ", fatal alone" in points


def test_the_picture_says_of_each_request_what_becomes_of_it() -> None:
    (mark,) = marks_of_answers([explained("GET /", Verdict.FAILED)]).values()

    assert (mark.look, mark.sign, mark.words) == ("failed", "✗", "fails")


def test_what_is_tried_is_the_cut_with_the_request_and_where_to_return() -> None:
    html = rendered(trial_form(explained("GET /", Verdict.UNKNOWN), QUESTION))

    assert 'method="post"' in html
    assert 'name="request" value="GET /"' in html
    assert 'name="cut" value="cart/GetCart:abort(503)"' in html
    assert 'name="shown" value=""' in html

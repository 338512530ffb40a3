import re
from dataclasses import replace

from tests.samples.campaign import EVENTS, REPLAY, RUN, VARYING, audited, cut, experiment
from tests.samples.evidence import FAULTED, HEALTHY, HOSTILE

from cutset.model.campaign import Campaign
from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import RunFinished, RunRecord
from cutset.report.campaign.finding import (
    AnswerAddresses,
    PastVerdict,
    ShownFinding,
    body,
    headline,
    past_verdict,
    remedy_grounds,
    shown_finding,
)
from cutset.report.page.document import standalone

CART = Finding("GET /", Outcome(cut("cart/GetCart"), Verdict.FAILED)).id
ADS = Finding("GET /", Outcome(cut("ad/GetAds"), Verdict.DEGRADED)).id
PAY = Finding("POST /pay", Outcome(cut("pay/Charge:delay(250ms)", "backup/Charge:abort(503),50%"), Verdict.FAILED)).id


def campaign(*more: CampaignEvent, events: list[CampaignEvent] = EVENTS) -> Campaign:
    return Campaign(RUN.run, (RUN, *more, *events))


def shown(finding_id: str = CART, of: Campaign | None = None) -> ShownFinding:
    known = of or campaign(HEALTHY, FAULTED)
    found = shown_finding(known, finding_id, REPLAY, remedy_grounds(known))
    assert found is not None
    return found


def text(each: ShownFinding, addresses: AnswerAddresses | None = None) -> str:
    page = standalone("x", headline(each), body(each, addresses) if addresses else body(each))
    return re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_a_finding_shows_what_the_user_gets_beside_what_he_should() -> None:
    page = text(shown(), AnswerAddresses("/one", "/other"))

    assert "500 with <code>no cart</code>" in page
    assert page.index('src="/one"') < page.index('src="/other"')
    assert "✗ cart/GetCart:abort(503)" in page
    assert page.count('class="waterfall"') == 2
    assert "&lt;h1&gt;Sorry&lt;/h1&gt;" in page
    assert "How they differ" in page


def test_nothing_in_it_is_markup_but_our_own() -> None:
    events = [replace(EVENTS[0], requests=(HOSTILE,)), audited(HOSTILE)]
    events += [experiment(HOSTILE, Verdict.FAILED, HOSTILE, "cart/<script src=x")]
    hostile = campaign(events=events)

    for page in (text(shown(hostile.findings[0].id, hostile)), text(shown())):
        assert "<script" not in page
        assert "<img" not in page


def test_the_evidence_says_how_often_what_fired_and_whether_it_is_minimal() -> None:
    page = text(shown())

    assert "failed 2 of 2 times, never without; 3 requests in all" in page
    assert "<dt>Fired</dt><dd>cart/GetCart:abort(503)</dd>" in page
    assert "answered as ever, right after" in page
    assert "yes: it is one fault" in page
    assert "survives together with flag/Get" in page
    assert "<li>aaaaaaaa</li>" in page
    assert f"{REPLAY} {CART}" in page


def test_what_is_not_proven_minimal_says_so_and_what_was_killed_is_named() -> None:
    events: list[CampaignEvent] = [
        each
        if not isinstance(each, RequestFinished) or each.request != "POST /pay"
        else replace(each, complete_up_to=0)
        for each in EVENTS
    ]

    page = text(shown(PAY, campaign(events=events)))

    assert "not proven: smaller cuts inside it are still to be tried" in page
    assert "127.0.0.1:5001" in page
    assert "proven that no part of it does this" in text(shown(PAY, campaign()))


def test_remedies_are_those_that_help_against_the_effect_with_what_speaks_for_them() -> None:
    page = text(shown())

    assert "<b>fallback</b>" in page
    assert "At one of these calls is enough" not in page
    assert "At one of these calls is enough" in text(shown(PAY, campaign()))
    assert "<b>fallback and timeout</b>" in text(shown(PAY, campaign()))


def test_a_degradation_shows_what_differs_and_leaves_it_to_the_user() -> None:
    page = text(shown(ADS))

    assert "degraded in 1 trial" in page
    assert "If that is good enough, accept it" in page
    varying = campaign(events=VARYING)
    wrong = text(shown(varying.summary.degradations[0].id, varying))
    assert "is answered wrongly" in wrong
    assert "<code>total</code>" in wrong
    assert "<td>19.99</td><td>0</td>" in wrong


def test_without_evidence_it_says_so_and_how_to_get_it() -> None:
    page = text(shown(CART, campaign()))

    assert page.count("Nothing was kept of this request") == 2
    assert f"{REPLAY} {CART}" in page


def test_without_answers_the_traces_are_still_there() -> None:
    page = text(shown(CART, campaign(replace(HEALTHY, answer=None), replace(FAULTED, answer=None))))

    assert "<code>keep_answers: false</code>" in page
    assert page.count('class="waterfall"') == 2
    assert "<iframe" not in page


def test_without_a_healthy_request_there_is_nothing_beside_it() -> None:
    page = text(shown(CART, campaign(FAULTED)))

    assert page.count('class="waterfall"') == 1
    assert "How they differ" not in page


def test_a_campaign_has_only_its_own_findings() -> None:
    assert shown_finding(campaign(), "00000000", REPLAY, remedy_grounds(campaign())) is None


def test_history_tells_of_each_campaign_what_became_of_it() -> None:
    def other(*events: CampaignEvent, name: str) -> Campaign:
        started = CampaignStarted(requests=("GET /",), max_size=1)
        end = (RequestFinished(request="GET /", complete_up_to=1, reason=""), RunFinished())
        return Campaign(name, (replace(RUN, run=name), started, audited("GET /"), *events, *end))

    now = shown()
    failing = other(experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"), name="failing")
    fixed = other(experiment("GET /", Verdict.SURVIVED, "200", "cart/GetCart", trials=1), name="fixed")
    elsewhere = other(name="elsewhere")
    degraded = other(experiment("GET /", Verdict.DEGRADED, "200, but less", "cart/GetCart", trials=1), name="degraded")

    def told(of: Campaign) -> PastVerdict:
        return past_verdict(now.finding, RunRecord(of.id, 0.0, of.started, finished=True), of)

    assert (told(failing).verdict, told(failing).words) == (Verdict.FAILED, "")
    assert (told(fixed).verdict, told(fixed).words) == (Verdict.SURVIVED, "")
    assert (told(elsewhere).verdict, told(elsewhere).words) == (Verdict.UNKNOWN, "the campaign injected nothing")
    assert (told(degraded).verdict, told(degraded).words) == (
        Verdict.DEGRADED,
        "is answered in part: 200, but less",
    )

    page = text(replace(now, history=tuple(map(told, (fixed, elsewhere, failing)))))
    rows = re.findall(r"<tr>.*?</tr>", page[page.index("History") :], re.DOTALL)
    assert ["(fixed)" in row for row in rows[1:]] == [True, False, False]
    assert 'href="/campaigns/fixed"' in rows[1]

from dataclasses import replace

from rich.text import Text
from tests.samples.campaign import EVENTS, REPLAY, SCOPE, VARIATION, VARYING, cut, experiment

from cutset.model.event import CampaignStarted, ExperimentFinished, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.terminal import PREDICTED_SHOWN, to_lines

EXPECTED = """\
GET /  complete up to size 3 for abort(503)  5 experiments in 5 rounds, 15 requests
  proof rests on: behaviour depends on which calls fail
  ✗ fails     cart/GetCart
    user sees  500 with `no cart`
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
    replay     cutset explore --replay 4006342a
  ✗ masked    cart/GetCart  fails, but survives together with flag/Get
  ~ degraded  ad/GetAds  200, but missing section#ads

POST /pay  complete up to size 1 for abort(503), 1 of 3 predicted cuts of size 2 confirmed, of 2 calls that plans \
reach; the budget of experiments is spent  4 experiments in 3 rounds, 12 requests
  ✗ fails     backup/Charge:abort(503),50% + pay/Charge:delay(250ms)
    user sees  no answer: connection lost
    killed     127.0.0.1:5001
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
    replay     cutset explore --replay 3e6f93d1
  ? unknown   x/Y  never fired: x/Y was not called
  ? predicted a/1 + a/2  expected to fail, but not tried
  ? predicted a/1 + a/3  expected to fail, but not tried
  ? predicted b/1 + b/2 + b/3  expected to fail, but not tried
  ! not coverable  GET /rates  called by pay at rates.example:443 past the mesh: no sidecar saw it
  - not coverable  redis  called by cart at 127.0.0.1:6379 directly
  ! not coverable  currency/Convert  called without the trace context, so no plan reaches it

GET /down  not tested: unhealthy baseline: 3 of 3 without faults failed: 500 with `[bold]oops`

2 minimal cuts in 3 request classes, 9 experiments of 3.0 requests each, 1 unknown
Strategy `cuts`, exact certificates
Said of calls that fail by abort(503); nothing is said of other ways to fail
A failure is believed after 2 in a row: at 1 % flaky answers a false finding has a chance of at most 0.02 % \
per experiment"""


def plain(lines: list[str]) -> str:
    return "\n".join(Text.from_markup(line).plain for line in lines)


def test_a_report_shows_each_cut_what_the_user_sees_the_evidence_and_how_to_replay_it() -> None:
    assert plain(list(to_lines(summarise(EVENTS), REPLAY))) == EXPECTED


def test_an_interrupted_campaign_says_so() -> None:
    lines = plain(list(to_lines(summarise(EVENTS[:7]), REPLAY)))

    assert "\n1 minimal cut in 3 request classes, 2 experiments of 3.0 requests each, interrupted\n" in lines
    assert "POST /pay  not tested: the campaign was interrupted" in lines


def test_an_interrupted_campaign_knows_how_far_it_has_come() -> None:
    events = [replace(event, complete_up_to=1) if isinstance(event, ExperimentFinished) else event for event in EVENTS]

    lines = plain(list(to_lines(summarise(events[:7]), REPLAY)))

    assert (
        "GET /  complete up to size 1 for abort(503); the campaign was interrupted  2 experiments in 2 rounds" in lines
    )


def test_a_failing_cut_whose_subsets_are_undecided_is_not_called_minimal() -> None:
    (home, pay, _) = summarise(EVENTS).requests
    unproven = replace(summarise(EVENTS), requests=(home, replace(pay, complete_up_to=0)))

    lines = plain(list(to_lines(unproven, REPLAY)))

    assert lines.count("minimal    not proven: smaller cuts inside it are still to be tried") == 1


def test_a_long_list_of_predictions_is_cut_short() -> None:
    many = tuple(cut(f"a/{number}", "b/1") for number in range(PREDICTED_SHOWN + 2))
    pay = replace(summarise(EVENTS).requests[1], predicted=many)

    lines = plain(list(to_lines(replace(summarise(EVENTS), requests=(pay,)), REPLAY)))

    assert lines.count("? predicted") == PREDICTED_SHOWN
    assert "    and 2 more\n" in lines


def test_trust_in_other_request_classes_is_stated() -> None:
    summary = summarise(EVENTS)
    trusting = replace(summary, started=replace(summary.started, across_requests="trust"))

    statement = "What failed one request class was taken to fail others, untested (`across_requests: trust`)"
    assert plain(list(to_lines(trusting, REPLAY))).endswith(statement)
    assert statement not in plain(list(to_lines(summary, REPLAY)))


def test_an_older_campaign_that_recorded_less_is_shown_all_the_same() -> None:
    first = CampaignStarted(requests=("GET /",), max_size=3)
    ended = RequestFinished(request="GET /", complete_up_to=3, reason="")

    lines = plain(list(to_lines(summarise([first, ended, RunFinished(reason="")]), REPLAY)))

    assert lines == (
        "GET /  complete up to size 3 for abort(503)  0 experiments, 0 requests\n\n"
        "0 minimal cuts in 1 request class, 0 experiments\n"
        "Said of calls that fail by abort(503); nothing is said of other ways to fail"
    )


def test_faults_that_outlived_their_request_are_told_with_what_they_hit() -> None:
    late = frozenset({Point("worker", "POST /jobs")})
    events = [
        replace(event, outcome=replace(event.outcome, outlived=late))
        if isinstance(event, ExperimentFinished)
        else event
        for event in EVENTS
    ]

    lines = plain(list(to_lines(summarise(events), REPLAY)))

    assert lines.count("! not contained  worker/POST /jobs  was faulted more than a second after the request") == 1


def test_where_requests_vary_the_report_says_what_may_have_been_overlooked_and_what_share_fails() -> None:
    lines = plain(list(to_lines(summarise(VARYING), REPLAY))).splitlines()

    assert lines[0] == "GET /  complete up to size 1 for grpc(14)  3 experiments in 2 rounds, 9 requests"
    assert lines[1] == f"  {VARIATION}"
    assert lines[2:5] == [
        "  ✗ fails     currency/Convert:grpc(14)",
        "    user sees  500; fails a share of requests: those that call currency/Convert, 5 of 10",
        "    evidence   failed 5 of 10 times, that is 24 % to 76 % of requests, never without; trace aaaaaaaa bbbbbbbb",
    ]
    assert "  ~ wrong     cart/GetCart:grpc(14)  200, but wrong: `total` was 19.99, is 0" in lines
    assert SCOPE in lines


def test_of_failures_that_begin_alike_what_differs_is_quoted() -> None:
    begin = (
        "could not place the order (checkout/PlaceOrder: the order of the user could not be placed because of this: "
    )
    says = [begin + "no quote (shipping/GetQuote)", begin + "no charge (payment/Charge)"]
    events = [
        CampaignStarted(requests=("GET /",), max_size=1),
        *(
            experiment("GET /", Verdict.FAILED, f"500 with `{text[:120]}…`", point, says=text)
            for text, point in zip(says, ("shipping/GetQuote", "payment/Charge"), strict=True)
        ),
        RequestFinished(request="GET /", complete_up_to=1, reason=""),
        RunFinished(reason=""),
    ]

    lines = plain(list(to_lines(summarise(events), REPLAY))).splitlines()

    assert [line for line in lines if "user sees" in line] == [
        "    user sees  500 with `…this: no charge (payment/Charge)`",
        "    user sees  500 with `…this: no quote (shipping/GetQuote)`",
    ]

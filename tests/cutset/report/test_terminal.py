from rich.text import Text
from sample_campaign import EVENTS

from cutset.report.summary import summarise
from cutset.report.terminal import to_lines

EXPECTED = """\
GET /  every cut of up to 3 faults is decided  4 experiments, 12 requests
  ✗ fails     cart/GetCart
    user sees  500 with `no cart`
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
    replay     cutset explore --replay 4006342a
  ~ degraded  ad/GetAds  200, but missing section#ads

POST /pay  every cut of up to 2 faults is decided, then the budget of experiments is spent  4 experiments, 12 requests
  ✗ fails     backup/Charge:abort(503),50% + pay/Charge:delay(250ms)
    user sees  no answer: connection lost
    killed     127.0.0.1:5001
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
    replay     cutset explore --replay 3e6f93d1
  ? unknown   x/Y  never fired: x/Y was not called
  ! not coverable  currency/Convert  called without the trace context, so no plan reaches it

GET /down  not tested: unhealthy baseline: 3 of 3 without faults failed: 500 with `[bold]oops`

2 minimal cuts in 3 request classes, 8 experiments, 1 unknown"""


def plain(lines: list[str]) -> str:
    return "\n".join(Text.from_markup(line).plain for line in lines)


def test_a_report_shows_each_cut_what_the_user_sees_the_evidence_and_how_to_replay_it() -> None:
    assert plain(list(to_lines(summarise(EVENTS)))) == EXPECTED


def test_an_interrupted_campaign_says_so() -> None:
    lines = plain(list(to_lines(summarise(EVENTS[:7]))))

    assert lines.endswith("1 minimal cut in 3 request classes, 2 experiments, interrupted")
    assert "POST /pay  not tested: the campaign was interrupted" in lines

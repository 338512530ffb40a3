from dataclasses import replace

from tests.samples.hardening_result import DECIDED, ODDS

from cutset.harden.failure_rates import Calls, FailureRate, Source
from cutset.report.hardening.wording import headline, interval, rate_in_words, sites_in_words


def test_the_headline_says_what_to_do_and_what_that_is_worth() -> None:
    assert headline(DECIDED) == "Harden 1 of 2 APIs: 1 of 2 cuts gone, proven best"
    assert headline(replace(DECIDED, level="call-site")).startswith("Harden 1 of 2 call sites")
    decision = DECIDED.decision
    doubtful = replace(decision, choice=replace(decision.choice, proven=False))
    assert headline(replace(DECIDED, decision=doubtful)).endswith("not proven best")
    assert sites_in_words(DECIDED) == "1 API"


def test_an_interval_is_told_where_there_is_one() -> None:
    assert interval(ODDS.failed_before_between) == " (12 to 31)"
    assert interval((3, 3)) == interval(None) == ""


def test_a_rate_comes_with_what_it_rests_on() -> None:
    assert rate_in_words(FailureRate(0.5, 0.5, 0.5, Source.GIVEN)) == "0.5 of calls (given)"
    measured = FailureRate(0.0055, 0.0021, 0.0109, Source.MEASURED, Calls(1000, 5))
    assert rate_in_words(measured) == "0.0055 of calls (0.0021 to 0.011): 5 of 1,000 were seen to"
    assert "never seen" in rate_in_words(replace(measured, source=Source.POOLED))

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.samples.campaign import RUN, audited, choice, experiment, points

from cutset.model.campaign import Campaign
from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.run import RunFinished
from cutset.report.campaign.changes import CampaignChanges, ChangeKind, changes_between, shares_requests

CART = experiment("GET /", Verdict.FAILED, "500 with `no cart`", "cart/GetCart")
ADS = experiment(
    "GET /",
    Verdict.DEGRADED,
    "200, but missing #ads",
    "ad/GetAds",
    fired=points("ad/GetAds"),
    calls=points("ad/GetAds"),
)
BOTH = experiment("GET /", Verdict.FAILED, "500", "cart/GetCart", "ad/GetAds")


USUAL = EffectChoice()


def survived(*faults: str) -> ExperimentFinished:
    fired = points(*faults)
    return experiment("GET /", Verdict.SURVIVED, "200", *faults, fired=fired, calls=fired)


def campaign(
    run: str,
    *experiments: ExperimentFinished,
    requests: Sequence[str] = ("GET /",),
    effects: EffectChoice = USUAL,
    finished: bool = True,
) -> Campaign:
    events: list[CampaignEvent] = [
        replace(RUN, run=run),
        CampaignStarted(requests=tuple(requests), max_size=3, effects=effects, certificates="exact"),
        *(audited(name) for name in requests),
        *experiments,
    ]
    if finished:
        events += [*(RequestFinished(request=name, complete_up_to=3, reason="") for name in requests), RunFinished()]
    return Campaign(run, tuple(events))


def told(changes: CampaignChanges) -> list[tuple[str, str]]:
    return [
        (each.kind.value, " + ".join(sorted(str(fault.point) for fault in each.finding.cut)))
        for each in changes.changes
    ]


def test_what_stays_is_no_change() -> None:
    changes = changes_between(campaign("one", CART, ADS), campaign("two", CART, ADS))

    assert (told(changes), changes.same) == ([], 1)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([survived("cart/GetCart")], [CART], [("new", "cart/GetCart")]),
        ([CART], [survived("cart/GetCart")], [("gone", "cart/GetCart")]),
        ([BOTH], [CART], [("worse", "cart/GetCart")]),
        ([ADS], [replace(ADS, outcome=replace(ADS.outcome, verdict=Verdict.FAILED))], [("worse", "ad/GetAds")]),
        ([replace(ADS, outcome=replace(ADS.outcome, verdict=Verdict.FAILED))], [ADS], [("better", "ad/GetAds")]),
        ([survived("ad/GetAds")], [ADS], [("new", "ad/GetAds")]),
        ([ADS], [survived("ad/GetAds")], [("gone", "ad/GetAds")]),
    ],
)
def test_a_change_is_told_where_experiments_of_both_show_it(
    before: list[ExperimentFinished], now: list[ExperimentFinished], expected: list[tuple[str, str]]
) -> None:
    kinds = told(changes_between(campaign("one", *before), campaign("two", *now)))

    assert [each for each in kinds if each[0] in ("new", "gone", "worse", "better")][:1] == expected


def test_what_nobody_looked_for_before_is_no_news() -> None:
    changes = changes_between(campaign("one", survived("ad/GetAds")), campaign("two", CART))

    (change,) = changes.of(ChangeKind.FIRST_SEEN)
    assert told(changes) == [("first seen", "cart/GetCart")]
    assert change.words == "not known before: no experiment tells"


def test_what_nobody_looked_for_again_is_not_gone() -> None:
    changes = changes_between(campaign("one", CART), campaign("two", survived("ad/GetAds")))

    assert told(changes) == [("not known", "cart/GetCart")]


def test_other_effects_cannot_be_compared_and_the_reason_names_those_that_were_injected() -> None:
    other = campaign(
        "two", experiment("GET /", Verdict.SURVIVED, "200", "cart/GetCart:timeout"), effects=choice("timeout")
    )
    changes = changes_between(campaign("one", CART), other)

    assert told(changes) == [("not known", "cart/GetCart")]
    assert changes.changes[0].words == "the campaign injected `timeout`"


def test_an_interrupted_campaign_proves_what_its_experiments_prove_and_no_more() -> None:
    changes = changes_between(
        campaign("one", CART, experiment("GET /", Verdict.FAILED, "500", "ad/GetAds")),
        campaign("two", survived("cart/GetCart"), finished=False),
    )

    assert told(changes) == [("gone", "cart/GetCart"), ("not known", "ad/GetAds")]
    assert "interrupted" in changes.changes[1].words


def test_request_classes_that_only_one_of_them_has_are_named_and_not_compared() -> None:
    one = campaign("one", CART, requests=("GET /", "POST /pay"))
    two = campaign("two", CART, requests=("GET /", "GET /new"))
    changes = changes_between(one, two)

    assert (changes.not_explored, changes.first_explored, told(changes)) == (("POST /pay",), ("GET /new",), [])
    assert shares_requests(one, two)
    assert not shares_requests(one, campaign("three", requests=("GET /new",)))

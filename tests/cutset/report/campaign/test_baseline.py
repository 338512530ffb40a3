from dataclasses import replace
from itertools import chain, combinations

import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.campaign import EVENTS, audited, experiment, points

from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import (
    Accepted,
    Comparison,
    Standing,
    accept,
    compare,
    merge,
    to_document,
    to_lines,
    to_yaml,
)

UNIVERSE = ("a/1", "b/1", "c/1", "d/1")
SUBSETS = [
    frozenset(each) for each in chain.from_iterable(combinations(UNIVERSE, size) for size in range(len(UNIVERSE) + 1))
]
Names = frozenset[str]
cut_families = st.sets(st.sampled_from(SUBSETS[1:]), max_size=4)


def accepted(*faults: str, request: str = "GET /", verdict: Verdict = Verdict.FAILED, because: str = "") -> Accepted:
    cut = frozenset(Fault.parse(fault) for fault in faults)
    return Accepted(Finding(request, Outcome(cut, verdict, "500")), because)


def campaign(*experiments: CampaignEvent, finish: RequestFinished | None = None) -> list[CampaignEvent]:
    return [
        replace(EVENTS[0], requests=("GET /",), max_size=4),
        audited("GET /"),
        *experiments,
        finish or RequestFinished(request="GET /", complete_up_to=4, reason=""),
        RunFinished(reason=""),
    ]


def fails(cut: Names, family: set[Names]) -> bool:
    return any(known <= cut for known in family)


def campaign_of(family: set[Names], tried: set[Names]) -> list[CampaignEvent]:
    """Of a system in which exactly what contains a set of the family fails. Its paths claim no more than is true."""
    return campaign(
        *(
            experiment("GET /", Verdict.FAILED, "500", *cut)
            if fails(cut, family)
            else experiment(
                "GET /",
                Verdict.SURVIVED,
                "200",
                *cut,
                path=points(*(set(UNIVERSE) - cut)),
                failed=points(*cut),
                calls=points(*UNIVERSE),
            )
            for cut in sorted(tried, key=lambda cut: (len(cut), sorted(cut)))
        )
    )


def standings(comparison: Comparison) -> list[tuple[Standing, str]]:
    return [(each.standing, each.because) for each in comparison.findings]


@given(cut_families, cut_families)
def test_a_campaign_fails_exactly_if_something_fails_that_did_not_before(before: set[Names], after: set[Names]) -> None:
    old = accept(summarise(campaign_of(before, set(SUBSETS))))

    comparison = compare(old, campaign_of(after, set(SUBSETS)))

    assert bool(comparison.failures) == any(fails(cut, after) and not fails(cut, before) for cut in SUBSETS)
    for each in comparison.findings:
        assert (each.standing is Standing.WORSE) == any(each.finding.cut < known.cut for known in old)


@given(cut_families, cut_families, st.sets(st.sampled_from(SUBSETS)))
def test_an_accepted_cut_is_called_better_only_if_it_survives_and_always_if_all_was_tried(
    before: set[Names], after: set[Names], tried: set[Names]
) -> None:
    old = accept(summarise(campaign_of(before, set(SUBSETS))))

    def better(tried: set[Names]) -> set[Names]:
        found = compare(old, campaign_of(after, tried)).better
        return {frozenset(str(fault.point) for fault in each.accepted.cut) for each in found}

    gone = {frozenset(str(f.point) for f in each.cut) for each in old if not fails_now(each, after)}
    assert better(tried) <= gone
    assert better(set(SUBSETS)) == gone


def fails_now(each: Accepted, family: set[Names]) -> bool:
    return fails(frozenset(str(fault.point) for fault in each.cut), family)


@given(cut_families, cut_families, st.sets(st.sampled_from(SUBSETS)))
def test_after_a_merge_the_same_campaign_has_nothing_new_and_nothing_better(
    before: set[Names], after: set[Names], tried: set[Names]
) -> None:
    events = campaign_of(after, tried)
    merged = merge(accept(summarise(campaign_of(before, set(SUBSETS)))), events)

    comparison = compare(merged, events)

    assert (comparison.failures, comparison.better) == ([], [])
    assert merge(merged, events) == merged


def test_a_smaller_cut_than_an_accepted_one_is_worse_and_a_larger_one_is_no_news() -> None:
    old = [accepted("cart/GetCart", "ad/GetAds"), accepted("pay/Charge", because="no other provider")]
    events = campaign(
        experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"),
        experiment("GET /", Verdict.FAILED, "500", "pay/Charge", "bank/Pay"),
        experiment("GET /", Verdict.FAILED, "500", "x/New"),
    )

    assert standings(compare(old, events)) == [
        (Standing.WORSE, "failed only together with ad/GetAds"),
        (Standing.NEW, ""),
        (Standing.ACCEPTED, "contains the accepted pay/Charge"),
    ]


def test_what_was_degraded_and_now_fails_is_worse_and_the_other_way_round_is_better() -> None:
    old = [accepted("ad/GetAds", verdict=Verdict.DEGRADED), accepted("cart/GetCart")]
    events = campaign(
        experiment("GET /", Verdict.FAILED, "500", "ad/GetAds"),
        experiment("GET /", Verdict.DEGRADED, "200, but missing the cart", "cart/GetCart"),
    )

    comparison = compare(old, events)

    assert standings(comparison) == [(Standing.WORSE, "was only degraded: 500")]
    assert [(each.better, each.words) for each in comparison.reviewed] == [
        (False, "fails"),
        (True, "is answered in part: 200, but missing the cart"),
    ]
    assert [each.standing for each in comparison.degradations] == [Standing.ACCEPTED]


def test_a_part_that_is_missing_for_the_first_time_is_told_but_is_no_failure() -> None:
    comparison = compare([], campaign(experiment("GET /", Verdict.DEGRADED, "200, but missing ads", "ad/GetAds")))

    assert comparison.failures == []
    assert list(to_lines(comparison, "b.yaml"))[1] == (
        "  [yellow]~ degraded[/]   GET /  [bold]ad/GetAds[/]  [dim]not accepted: 200, but missing ads[/]"
    )


def test_nothing_is_called_better_by_a_campaign_that_could_not_have_seen_it_fail() -> None:
    survived = experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds", path=points("x/Y"))
    events = campaign(survived, experiment("GET /", Verdict.UNKNOWN, "never fired", "x/Y"))
    events[1] = replace(audited("GET /"), calls=points("ad/GetAds", "cart/GetCart#1"), not_reached=points("tax/Get"))
    cases = {
        "the campaign has no such request": accepted("ad/GetAds", request="POST /pay"),
        "the campaign injected `abort(503)`": accepted("ad/GetAds:delay(250ms)"),
        "no plan reaches tax/Get": accepted("tax/Get"),
        "the campaign tells calls apart in another way: cart/GetCart": accepted("cart/GetCart"),
        "never fired": accepted("x/Y"),
    }

    comparison = compare(list(cases.values()), events)

    assert {each.words: each.accepted for each in comparison.undecided} == cases
    assert comparison.better == []


def test_a_budget_that_was_spent_before_is_the_reason_why_nothing_is_known() -> None:
    end = RequestFinished(request="GET /", complete_up_to=0, reason="the budget of experiments is spent")
    events = campaign(
        experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds", path=points("cart/GetCart")), finish=end
    )

    (reviewed,) = compare([accepted("cart/GetCart")], events).reviewed

    assert (reviewed.verdict, reviewed.words) == (Verdict.UNKNOWN, "the budget of experiments is spent")


def test_a_merge_keeps_reasons_and_what_was_not_disproved_but_no_reason_for_less() -> None:
    old = [
        accepted("cart/GetCart", because="it is a cart"),
        accepted("ad/GetAds", verdict=Verdict.DEGRADED, because="only advertisements"),
        accepted("gone/Get", because="legacy"),
        accepted("pay/Charge", request="POST /pay", because="not explored today"),
    ]
    events = campaign(
        experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"),
        experiment("GET /", Verdict.FAILED, "500", "ad/GetAds"),
        experiment("GET /", Verdict.SURVIVED, "200", "gone/Get"),
    )

    merged = [(each.finding.request, str(*each.cut), each.failed, each.because) for each in merge(old, events)]

    assert merged == [
        ("GET /", "ad/GetAds:abort(503)", True, ""),
        ("GET /", "cart/GetCart:abort(503)", True, "it is a cart"),
        ("POST /pay", "pay/Charge:abort(503)", True, "not explored today"),
    ]


def test_the_file_is_sorted_and_says_what_a_reviewer_must_know() -> None:
    text = to_yaml(accept(summarise(EVENTS), [accepted("cart/GetCart", because="no cart, no shop")]))

    assert text.startswith("# Accepted findings of Cutset.")
    content = yaml.safe_load(text)
    assert content["format"] == 1
    assert content["accepted"][1] == {
        "id": "4006342a",
        "request": "GET /",
        "cut": ["cart/GetCart:abort(503)"],
        "verdict": "failed",
        "user_sees": "500 with `no cart`",
        "accepted_because": "no cart, no shop",
    }
    order = [(each["request"], len(each["cut"]), each["cut"]) for each in content["accepted"]]
    assert order == sorted(order)
    assert to_yaml(list(reversed(accept(summarise(EVENTS))))) == to_yaml(accept(summarise(EVENTS)))


def test_people_see_what_to_act_on_first() -> None:
    old = [
        accepted("cart/GetCart", because="no cart, no shop"),
        accepted("gone/Get"),
        accepted("a/B", request="GET /old"),
    ]
    events = campaign(
        experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"),
        experiment("GET /", Verdict.FAILED, "500", "x/New"),
        experiment("GET /", Verdict.SURVIVED, "200", "gone/Get"),
    )

    assert list(to_lines(compare(old, events), "[b].yaml")) == [
        "[bold]Against \\[b].yaml[/]",
        "  [red]✗ new  [/]      GET /  [bold]x/New[/]",
        "  [green]+ better[/]     GET /  [bold]gone/Get[/]  [dim]no longer fails[/]",
        "  [magenta]? undecided[/]  GET /old  [bold]a/B[/]  [dim]the campaign has no such request[/]",
        "Findings: 1 new, 0 worse, 1 accepted; 1 of 3 accepted became better",
        "[yellow]Accepted without a reason: 2 of 3[/]",
        "[dim]`cutset baseline --merge` takes what became better out of the file[/]",
    ]
    document = to_document(compare(old, events), "b.yaml")
    assert [each["standing"] for each in document["findings"]] == ["accepted", "new"]
    assert [(each["better"], each["verdict"]) for each in document["accepted"]] == [
        (False, "failed"),
        (True, "survived"),
        (False, "unknown"),
    ]


def test_every_finding_of_a_campaign_is_accepted_by_its_own_baseline() -> None:
    own = compare(accept(summarise(EVENTS)), EVENTS)

    assert own.failures == []
    assert {each.standing for each in (*own.findings, *own.degradations)} == {Standing.ACCEPTED}
    assert isinstance(EVENTS[0], CampaignStarted)
    assert own.better == own.undecided == []

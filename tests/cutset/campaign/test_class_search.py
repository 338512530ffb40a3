from dataclasses import replace

import pytest
from tests.samples.simulated_campaign import REQUESTS, SETTINGS, SYSTEMS, changed, outcome_of

from cutset.campaign.class_search import ClassSearch, begin
from cutset.model.coverage import OutOfReach, Uncoverable, nothing_reached
from cutset.model.event import CampaignEvent, ExperimentFinished, RequestAudited
from cutset.model.fault import BASELINE, Cut, cut_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.search.cuts import CutSearch
from cutset.search.strategies import STRATEGIES, AcrossRequests, Strategy, StrategyName
from cutset.search.strategy import Masked, SearchResult, SearchSettings

HOME, CHECKOUT = REQUESTS
A, B, C, D = (Point("shop", api) for api in "ABCD")


def audited(request: str, *calls: Point, edges: tuple[tuple[Point, Point], ...] = ()) -> RequestAudited:
    return RequestAudited(
        request=request,
        healthy=True,
        reason="",
        calls=frozenset(calls),
        not_reached=frozenset(),
        trace_ids=(),
        runs=(Outcome(BASELINE, Verdict.SURVIVED, path=frozenset(calls), calls=frozenset(calls)),),
        edges=edges,
    )


def failed(request: str, *points: Point, round_number: int = 1) -> ExperimentFinished:
    return ExperimentFinished(request=request, outcome=Outcome(cut_of(points), Verdict.FAILED), round=round_number)


def test_a_request_of_which_no_call_is_reached_is_not_complete_and_says_what_it_was_seen_to_call() -> None:
    lost = Uncoverable("tax/Get", OutOfReach.OTHER_TRACE, "web")
    search = begin(HOME, SETTINGS, [replace(audited(HOME.name), uncoverable=(lost,))])
    assert search.ask(1) == []

    end = search.end()

    assert end.complete_up_to == -1
    assert end.reason == nothing_reached([lost])


@pytest.fixture
def settings_seen(monkeypatch: pytest.MonkeyPatch) -> list[SearchSettings]:
    seen: list[SearchSettings] = []

    def start(settings: SearchSettings) -> CutSearch:
        seen.append(settings)
        return CutSearch(settings)

    monkeypatch.setitem(STRATEGIES, StrategyName.CUTS, Strategy(start, "noted"))
    return seen


def test_what_failed_other_classes_is_a_hint_if_this_class_calls_it(settings_seen: list[SearchSettings]) -> None:
    events = [
        audited(HOME.name, A, B, C),
        audited(CHECKOUT.name, A, B, D),
        failed(HOME.name, A),
        failed(HOME.name, A, B),
        failed(HOME.name, B, C),
        failed(HOME.name, B, D),
    ]

    begin(CHECKOUT, SETTINGS, events)
    begin(CHECKOUT, changed(SETTINGS, max_size=1), events)
    begin(HOME, SETTINGS, events)

    one, two = cut_of({A}), cut_of({B, D})
    assert [settings.hints for settings in settings_seen] == [(one, two), (one,), ()]


def test_hints_are_the_same_when_a_campaign_is_resumed(settings_seen: list[SearchSettings]) -> None:
    before: list[CampaignEvent] = [audited(HOME.name, A, B), audited(CHECKOUT.name, A, B), failed(HOME.name, A)]
    after = [*before, failed(CHECKOUT.name, A), failed(HOME.name, B), audited(CHECKOUT.name, A, B)]

    begin(CHECKOUT, SETTINGS, before)
    begin(CHECKOUT, SETTINGS, after)

    assert settings_seen[0].hints == settings_seen[1].hints == (cut_of({A}),)


def test_weights_are_the_same_when_a_campaign_is_resumed_though_audits_vary(
    settings_seen: list[SearchSettings],
) -> None:
    before: list[CampaignEvent] = [audited(HOME.name, A, B), audited(CHECKOUT.name, A, C), failed(HOME.name, A)]
    resumed = [audited(HOME.name, A), audited(CHECKOUT.name, A, C, D), audited("GET /new", B, D)]

    begin(CHECKOUT, SETTINGS, before)
    begin(CHECKOUT, SETTINGS, [*before, failed(CHECKOUT.name, A), *resumed])

    assert settings_seen[0].weights == settings_seen[1].weights
    assert settings_seen[0].weights.keys() == {A, B, C}


def test_replicas_that_are_configured_are_in_the_inventory(settings_seen: list[SearchSettings]) -> None:
    first = replace(A, replica="1")
    settings = replace(SETTINGS, replicas={"shop": 3, "other": 2})

    begin(HOME, settings, [audited(HOME.name, first, B)])

    assert settings_seen[0].inventory == {B, *(replace(A, replica=number) for number in "123")}


def test_what_more_request_classes_and_services_call_weighs_more(settings_seen: list[SearchSettings]) -> None:
    events = [audited(HOME.name, A, B, edges=((B, A),)), audited(CHECKOUT.name, A, C, edges=((C, A), (D, A)))]

    begin(HOME, SETTINGS, events)

    weights = settings_seen[0].weights
    assert weights[A] > max(weights[B], weights[C])
    assert D not in weights


@pytest.mark.parametrize("strategy", [StrategyName.CUTS, StrategyName.MICROFI])
def test_what_is_trusted_and_not_tried_is_reported_as_predicted(strategy: StrategyName) -> None:
    settings = changed(SETTINGS, strategy=strategy, across_requests=AcrossRequests.TRUST, max_size=1)
    events = [audited(HOME.name, A, B), audited(CHECKOUT.name, A, B), failed(HOME.name, A)]
    search = begin(CHECKOUT, settings, events)
    while cuts := search.ask(9):
        for cut in cuts:
            assert cut != cut_of([A])
            search.learn(Outcome(cut, Verdict.FAILED))

    assert search.end().predicted == (cut_of([A]),)


def test_replicas_that_stood_in_for_each_other_elsewhere_are_not_asked_about_if_that_is_trusted(
    settings_seen: list[SearchSettings],
) -> None:
    one, two = (replace(A, replica=number) for number in "12")
    both = frozenset({one, two})
    events: list[CampaignEvent] = [audited(HOME.name, one, two, B), audited(CHECKOUT.name, one, two, C)]
    events.append(failed(HOME.name, one, two))
    for down, up in ((one, two), (two, one)):
        run = Outcome(cut_of({down}), Verdict.SURVIVED, path=frozenset({up, B}), calls=both | {B})
        events.append(
            ExperimentFinished(request=HOME.name, outcome=replace(run, fired=frozenset({down}), retried=both))
        )

    begin(CHECKOUT, changed(SETTINGS, across_requests=AcrossRequests.TRUST), events)
    begin(CHECKOUT, SETTINGS, events)

    assert [settings.stand_ins for settings in settings_seen] == [both, frozenset()]


def test_rounds_go_on_where_they_were_when_a_campaign_is_resumed() -> None:
    past = [outcome_of(SYSTEMS[HOME.name], BASELINE, turn=0)]
    events = [
        replace(audited(HOME.name), calls=past[0].calls, runs=tuple(past)),
        failed(HOME.name, Point("simulated", "session"), round_number=4),
    ]
    search = begin(HOME, SETTINGS, events)

    assert search.round == 4
    assert search.ask(1)
    assert search.round == 5
    assert begin(HOME, changed(SETTINGS, rounds=4), events).ask(1) == []


def test_an_audit_takes_the_place_of_the_one_before_the_campaign_was_resumed() -> None:
    """What was seen during an outage, or right after it with empty caches, is not how the request behaves."""
    during, after = audited(HOME.name, A, B), audited(HOME.name, A)
    search = begin(HOME, SETTINGS, [during, failed(HOME.name, A), after])

    assert search.ask(9) == []
    assert search.end().complete_up_to == 3
    assert begin(HOME, SETTINGS, [during, failed(HOME.name, A)]).ask(9) == [cut_of({B})]


def test_only_cuts_that_are_minimal_are_reported_as_masked() -> None:
    class Ended:
        def ask(self, _limit: int) -> list[Cut]:
            return []

        def learn(self, outcome: Outcome) -> None: ...

        def result(self) -> SearchResult:
            small, large = cut_of({A}), cut_of({A, B})
            return SearchResult(
                minimal_cuts=(small,),
                complete_up_to=3,
                finished=True,
                left=0,
                undecided=(),
                masked=(Masked(small, cut_of({A, C})), Masked(large, cut_of({A, B, C}))),
            )

    search = ClassSearch(HOME, Ended(), SETTINGS, [Outcome(cut_of([A]), Verdict.FAILED)], past_rounds=0)

    assert search.end().masked == ((cut_of([A]), cut_of([A, C])),)
    assert search.end().predicted == ()


def test_a_call_that_only_an_unproven_run_of_the_audit_made_is_tried_too() -> None:
    seen_once = replace(audited(HOME.name, A), calls=frozenset({A, B}))

    assert set(begin(HOME, SETTINGS, [seen_once]).ask(9)) == {cut_of({A}), cut_of({B})}


def test_what_is_only_trusted_to_fail_is_not_part_of_what_rests_on_determinism_alone() -> None:
    trusting = changed(SETTINGS, across_requests=AcrossRequests.TRUST)
    events = [audited(HOME.name, A), audited(CHECKOUT.name, A), failed(HOME.name, A)]

    end = begin(CHECKOUT, trusting, events).end()

    assert (end.complete_up_to, end.exact_up_to, end.predicted) == (3, 0, (cut_of([A]),))

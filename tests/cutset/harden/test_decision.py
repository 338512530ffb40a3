from dataclasses import replace

import pytest
from tests.samples.campaign import MIXED
from tests.samples.simulated_hardening import FINDINGS, SERVICES, decision

from cutset.harden.decision import (
    Decision,
    advice_of,
    consequences_of,
    expected_gone,
    settings_of,
    sites_of,
)
from cutset.harden.needs import softened_by_errors
from cutset.harden.problem import Candidate, Problem, Weakness, choice_of, problem_of
from cutset.harden.remedies.evidence import evidence_of
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.hardening import CallsObserved, Latency
from cutset.model.mesh import MeshService
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.summary import summarise

CART = Point("cart", "GetCart")
OBSERVED = CallsObserved(efforts={}, latencies={CART: Latency(10, 0.1, 1, 1, 1)}, recovered={Point("ad", "GetAds"): 2})


def gone(settings: dict[str, dict[str, object]] | None) -> set[str]:
    expected = expected_gone(decision(), SERVICES, settings)
    return {str(next(iter(finding.cut)).point) for finding in FINDINGS if finding.id in expected}


def test_each_site_gets_advice_by_what_is_known_of_it() -> None:
    sites = sites_of(decision())
    assert [site.candidate.name for site in sites] == ["ad/GetAds", "cart/GetCart"]
    assert "timeout" in {each.remedy for each in sites[1].declined}

    advice = advice_of(sites_of(decision(), SERVICES, OBSERVED))
    assert {each.remedy: each.settings for each in advice[CART]}["timeout"] == {"timeout_seconds": 3.0}


def test_what_was_measured_before_tells_more_than_a_few_requests_of_ours() -> None:
    known = decision()
    traced = replace(known.evidence[CART], latency=Latency(5_000, 0.1, 2, 2, 2))
    advice = advice_of(sites_of(replace(known, evidence={**known.evidence, CART: traced}), SERVICES, OBSERVED))
    assert {each.remedy: each.settings for each in advice[CART]}["timeout"] == {"timeout_seconds": 3.0}


def test_a_fallback_that_was_wished_for_takes_the_place_of_the_usual_one() -> None:
    wished = replace(decision(1), fallbacks={"cart/GetCart": "last-good-or-empty"})
    settings, _ = settings_of(wished, SERVICES, OBSERVED)
    assert settings["cart"]["fallback"] == {"GetCart": "last-good-or-empty"}


def test_what_should_be_gone_after_a_change_is_what_has_a_fallback_then() -> None:
    assert gone(None) == {"cart/GetCart", "ad/GetAds"}  # all that was chosen
    assert gone({}) == set()
    assert gone({"cart": {"fallback": {"GetCart": "last-good"}, "retries": 1}}) == {"cart/GetCart"}
    before = (*SERVICES[:2], replace(SERVICES[2], fallback={"Charge": "last-good"}))
    assert len(expected_gone(decision(), before, {})) == 1


@pytest.mark.parametrize(
    ("cut", "repeats", "is_gone"),
    [
        (("cart/GetCart#a",), 1, True),  # another replica answers
        (("cart/GetCart#a", "cart/GetCart#b"), 2, True),
        (("cart/GetCart#a", "cart/GetCart#b"), 1, False),
        (("cart/GetCart#a", "cart/GetCart#b", "cart/GetCart#c"), 9, False),  # none is left
        (("cart/GetCart",), 9, False),
        (("cart/GetCart:abort(503),attempts=1",), 1, True),
        (("cart/GetCart:abort(503),attempts=2",), 1, False),
        (("cart/GetCart:abort(500),attempts=1",), 1, False),  # which nobody repeats
        (("cart/GetCart#a:delay(9000ms)",), 1, False),
        (("cart/GetCart#a", "ad/GetAds"), 1, True),
        (("cart/GetCart#a",), 0, False),
    ],
)
def test_further_attempts_get_by_what_does_not_hit_them_all(cut: tuple[str, ...], repeats: int, is_gone: bool) -> None:
    finding = Finding("GET /", Outcome(frozenset(map(Fault.parse, cut)), Verdict.FAILED))
    found = replace(decision(), findings=(finding,), problem=Problem((), ()))
    services = [MeshService("cart", "grpc", ("a", "b", "c"))]
    assert expected_gone(found, services, {}, {CART: repeats}) == ({finding.id} if is_gone else set())


def test_a_timeout_that_was_put_into_the_mesh_takes_slow_answers_away_and_nothing_looks_into_answers() -> None:
    summary = summarise(MIXED)
    problem = problem_of(summary.findings, softened=softened_by_errors(summary))
    empty, slow, _ = summary.findings
    found = Decision(
        tuple(summary.findings),
        problem,
        choice_of(problem, 9, range(len(problem.candidates)), proven=True),
        evidence_of(MIXED, summary.findings),
    )

    assert expected_gone(found, (), None) == {each.id for each in summary.findings}
    assert expected_gone(found, (), {"payment": {"timeout_seconds": 1.0}}) == {slow.id}
    assert empty.id not in expected_gone(found, (), {"payment": {"timeout_seconds": 1.0, "fallback": {"Charge": "x"}}})
    told = {site.candidate.name: [each.remedy for each in site.advice] for site in sites_of(found)}
    assert told["timeout at payment/Charge"] == ["timeout"]
    assert told["validation at payment/Charge"] == ["validation"]
    assert {each.remedy for each in advice_of(sites_of(found))[Point("payment", "Charge")]} >= {"timeout", "validation"}


def test_each_candidate_of_a_choice_is_told_with_what_it_takes_away_and_what_stays() -> None:
    removed = consequences_of(decision(budget=1)).removed
    assert {name: [each.finding.request for each in own] for name, own in removed.items()} == {
        "cart/GetCart": ["GET /", "GET /cart", "POST /pay"]
    }
    left = consequences_of(decision(budget=1)).remaining
    assert len(left) == len(FINDINGS) - 3
    assert not {each.id for each in left} & {each.finding.id for each in removed["cart/GetCart"]}
    assert consequences_of(decision(budget=3)).remaining == ()


def test_what_takes_two_measures_is_taken_away_by_both_together() -> None:
    summary = summarise(MIXED)
    problem = problem_of(summary.findings, softened=softened_by_errors(summary))
    everything = choice_of(problem, 9, range(len(problem.candidates)), proven=True)
    removed = consequences_of(Decision(tuple(summary.findings), problem, everything, {})).removed
    assert {each.finding.id for own in removed.values() for each in own} == {each.id for each in summary.findings}
    alone = choice_of(problem, 0, (), proven=True)
    assert consequences_of(Decision(tuple(summary.findings), problem, alone, {})).removed == {}
    pair = Problem(
        (Candidate("a/x"), Candidate("b/y")), (Weakness("r", (frozenset({0}), frozenset({1})), finding="f"),)
    )
    known = replace(FINDINGS[0])
    both = Problem(pair.candidates, (replace(pair.weaknesses[0], finding=known.id),))
    together = consequences_of(Decision((known,), both, choice_of(both, 2, (0, 1), proven=True), {})).removed
    assert together["a/x"][0].together_with == ("b/y",)
    assert together["b/y"][0].together_with == ("a/x",)


def test_what_is_hardened_already_is_no_merit_of_the_choice() -> None:
    posed = decision(budget=1).problem
    candidates = tuple(replace(each, already=each.name == "cart/GetCart") for each in posed.candidates)
    problem = replace(posed, candidates=candidates)
    assert consequences_of(Decision(FINDINGS, problem, choice_of(problem, 0, (), proven=True), {})).removed == {}

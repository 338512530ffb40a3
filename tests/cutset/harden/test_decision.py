from dataclasses import replace

from tests.samples.simulated_hardening import FINDINGS, SERVICES, decision

from cutset.harden.decision import advice_of, expected_gone, settings_of, sites_of
from cutset.model.hardening import CallsObserved, Latency
from cutset.model.point import Point

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

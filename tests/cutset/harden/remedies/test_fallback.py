from dataclasses import replace

from tests.samples.call_sites import READS, WRITES, reason_of, settings_of

from cutset.harden.remedies import fallback
from cutset.model.effect import UNAVAILABLE, Effect
from cutset.model.point import Point


def test_a_fallback_repeats_answers_of_what_only_reads() -> None:
    assert settings_of(fallback.advise(READS)) == {"fallback": {"GetCart": "last-good"}}
    assert settings_of(fallback.advise(WRITES)) == {}
    assert "outbox" in fallback.advise(WRITES).why
    assert settings_of(fallback.advise(replace(READS, site=Point("cart", "GET /cart")))) == {}


def test_a_fallback_points_to_code_that_has_one_already() -> None:
    assert "`GET /a` does without it already" in fallback.advise(replace(READS, tolerated=("GET /a",))).why
    instead = frozenset({Point("cache", "Get")})
    assert "`cache/Get` is asked instead already" in fallback.advise(replace(READS, instead=instead)).why


def test_what_is_survived_as_a_failure_needs_no_fallback() -> None:
    said = fallback.advise(replace(READS, fatal=(Effect.parse("timeout"),), survived=(UNAVAILABLE,)))

    assert "its failure is survived already; what is not is timeout" in reason_of(said)

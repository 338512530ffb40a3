"""Each remedy is advised on its evidence, and declined with a reason without it."""

from dataclasses import replace

import pytest
from tests.samples.call_sites import READS

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import REMEDIES, advise, explanations
from cutset.model.effect import Effect
from cutset.model.point import Point


def test_with_all_the_evidence_everything_but_what_would_not_pay_is_advised() -> None:
    advice, declined = advise(READS)
    assert [each.remedy for each in advice] == ["fallback", "timeout", "retry", "circuit-breaker", "bulkhead"]
    assert [each.remedy for each in declined] == ["validation", "hedging"]
    assert [each.remedy for each in advice if each.survives_outage] == ["fallback"]


def test_without_evidence_nothing_is_made_up() -> None:
    advice, declined = advise(SiteEvidence(Point("payment", "Charge")))
    assert [each.remedy for each in advice] == ["fallback", "circuit-breaker"]
    assert all(each.why for each in declined)


@pytest.mark.parametrize("name", REMEDIES)
def test_each_explains_itself_with_an_example_and_risks(name: str) -> None:
    text = explanations()[name]
    example = "try:" if name == "validation" else "services:"  # no mesh looks into answers
    assert all(part in text for part in ("Advised when: ", f"Example:\n\n{example}", "Risks:\n- "))


def test_no_mesh_is_in_front_of_a_data_store() -> None:
    cache = replace(READS, site=Point.parse("cart>cache/redis/get sessions:6379/0"))

    advice, declined = advise(cache)

    assert [each.remedy for each in advice] == ["fallback", "timeout", "retry"]
    assert all(not each.settings and "by the client that `cart` uses, no mesh setting" in each.why for each in advice)
    assert {each.remedy for each in declined} == {"validation", "circuit-breaker", "hedging", "bulkhead"}


@pytest.mark.parametrize(
    ("fatal", "survived", "remedies"),
    [
        (["timeout"], ["abort(503)"], ["timeout"]),
        (["delay(2s)"], [], ["fallback", "timeout"]),
        (["garbled"], ["abort(503)"], ["timeout", "validation"]),
        (["empty"], [], ["fallback", "timeout", "validation"]),
        (["abort(503),attempts=1"], [], ["fallback", "timeout", "retry"]),
        (["abort(503)", "timeout"], [], ["fallback", "timeout", "retry"]),
    ],
)
def test_remedies_are_those_that_help_against_what_is_fatal(
    fatal: list[str], survived: list[str], remedies: list[str]
) -> None:
    """A slow answer that nobody waits for is an error; who survives that needs a timeout and no fallback."""
    effects = tuple(tuple(map(Effect.parse, texts)) for texts in (fatal, survived))
    advice, _ = advise(replace(READS, fatal=effects[0], survived=effects[1]))

    of_effects = ("fallback", "timeout", "validation", "retry")
    assert [each.remedy for each in advice if each.remedy in of_effects] == remedies

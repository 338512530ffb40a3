from dataclasses import replace

from tests.samples.call_sites import READS, reason_of

from cutset.harden.remedies import validation
from cutset.model.advice import Advice
from cutset.model.effect import UNAVAILABLE, Effect

GARBLED = Effect.parse("garbled")


def test_answers_are_to_be_looked_at_where_an_unreadable_one_does_harm() -> None:
    said = validation.advise(replace(READS, fatal=(GARBLED,), survived=(UNAVAILABLE,)))

    assert isinstance(said, Advice)
    assert said.settings == {}
    assert "requests fail with garbled" in said.why
    assert said.why.endswith("that is survived already")


def test_where_its_failure_does_harm_as_well_that_is_not_enough() -> None:
    said = validation.advise(replace(READS, fatal=(UNAVAILABLE, GARBLED), survived=()))

    assert isinstance(said, Advice)
    assert said.why.endswith("for which something must be done instead, too")


def test_nothing_is_said_of_what_was_not_seen() -> None:
    assert "no unreadable answer" in reason_of(validation.advise(replace(READS, fatal=(UNAVAILABLE,))))

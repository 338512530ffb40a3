from dataclasses import replace

import pytest
from tests.samples.call_sites import READS, WRITES, reason_of, settings_of

from cutset.harden.remedies import retry
from cutset.model.advice import Advice
from cutset.model.effect import Effect


@pytest.mark.parametrize(("replicas", "retries"), [(0, 1), (1, 1), (2, 1), (3, 2), (9, 2)])
def test_retries_are_few_and_have_a_budget(replicas: int, retries: int) -> None:
    said = retry.advise(replace(READS, replicas=replicas))
    assert settings_of(said) == {"retries": retries, "retry_budget_percent": 20.0}


def test_what_may_change_something_is_not_retried() -> None:
    assert "idempotent" in reason_of(retry.advise(WRITES))
    assert settings_of(retry.advise(replace(WRITES, recovered=1)))


def test_what_the_mesh_does_already_is_not_advised_again() -> None:
    assert "already makes 1 attempt more" in reason_of(retry.advise(replace(READS, retries=1)))


def test_another_attempt_is_for_failures_that_somebody_is_told_of() -> None:
    assert "nobody is told of a failure" in reason_of(retry.advise(replace(READS, fatal=(Effect.parse("timeout"),))))

    said = retry.advise(replace(READS, fatal=(Effect.parse("abort(503),attempts=1"),)))

    assert isinstance(said, Advice)
    assert said.why.endswith("requests fail with abort(503),attempts=1, which one attempt more gets by")

"""What a trial's answer is worth, with what agents tell of the writes behind it."""

from collections.abc import Sequence
from dataclasses import replace

from cutset.experiment.trial import Trial
from cutset.judge.rules import Baseline, Judgement, judge, sharpened
from cutset.judge.writes import usual_writes
from cutset.lineage.calls import calls_of
from cutset.lineage.completeness import Instrumentation
from cutset.lineage.operations import operations_of
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation


def with_writes(baseline: Baseline, trials: Sequence[Trial], expect: Expectation) -> Baseline:
    """Learnt from runs without a fault whose answer was good."""
    good = [
        each for each in trials if each.traced and judge(each.response, expect, baseline).verdict is Verdict.SURVIVED
    ]
    return replace(baseline, writes=usual_writes([operations_of(each.spans) for each in good]))


def judged(trial: Trial, expect: Expectation, baseline: Baseline, instrumentation: Instrumentation | None) -> Judgement:
    operations = operations_of(trial.spans) if trial.traced else None
    return judge(trial.response, expect, baseline, operations, _certain(trial, instrumentation))


def sharpened_by(baseline: Baseline, trial: Trial) -> Baseline:
    """By one more run without a fault."""
    return sharpened(baseline, trial.response, operations_of(trial.spans) if trial.traced else None)


def _certain(trial: Trial, instrumentation: Instrumentation | None) -> frozenset[str]:
    """Services whose agents told of all their calls: what a call did that failed in its own time may be untold."""
    if instrumentation is None or trial.missing or trial.abandoned or trial.disturbed or trial.dead:
        return frozenset()
    attempts = [each for call in calls_of(trial.spans, trial.root_id) for each in call.attempts]
    return instrumentation.agents - {each.point.service for each in attempts if each.failed and not each.injected}

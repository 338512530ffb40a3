"""Which part of a finding is to be looked at more closely, where only a share of requests fails.

A part that was overlooked when it was tried alone fails as many requests along with anything, and a cut would name what
played no part. So each part of such a finding is tried with so many requests that the same share could not be missed.
"""

from collections.abc import Collection, Sequence

from cutset.campaign.settings import Limits
from cutset.judge.sequential import Repetition, trials_to_see
from cutset.judge.shares import share
from cutset.model.event import ExperimentFinished
from cutset.model.fault import Cut
from cutset.model.finding import findings_of
from cutset.model.outcome import Verdict

SMALLEST = 0.1  # it takes hundreds of requests to tell a smaller share from chance


def closer_look(
    experiments: Sequence[ExperimentFinished], limits: Limits, max_size: int, looked_at: Collection[Cut]
) -> tuple[Cut, float] | None:
    """The next part, and the share that it must not fail unseen; by what one request class showed. None: none is left.

    A part that fails takes the place of the finding, so that its other parts do not matter any more.
    """
    rule = Repetition(limits.failures_needed, limits.flake_rate, limits.trials)
    for finding in findings_of(experiments):
        whole = finding.outcome
        if not whole.is_share or not 1 < len(finding.cut) <= max_size:
            continue
        least = max(SMALLEST, share(whole.failures, whole.trials).low)
        enough = trials_to_see(least, rule)
        known = {
            each.outcome.cut
            for each in experiments
            if each.outcome.verdict is Verdict.UNKNOWN or each.outcome.trials >= enough
        }
        # First without what the failures do not show to have failed: that it did not matter is most likely.
        for fault in sorted(finding.cut, key=lambda fault: (fault.point in whole.failed, fault)):
            part = finding.cut - {fault}
            if part not in known and part not in looked_at:
                return part, least
    return None

"""What changed between two campaigns, as far as experiments tell.

The earlier one's findings are taken for accepted ones and the later campaign is held against them, then the other way
round: what nobody looked for before is no news, and what nobody looked for again is not gone. So whatever one of them
cannot speak of, because it injected other effects, told calls apart in another way, looked for smaller cuts or was
interrupted, is *not known*, with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.campaign import Campaign
from cutset.model.finding import Finding
from cutset.model.outcome import Verdict
from cutset.report.campaign.baseline import Compared, Reviewed, Standing, accept, compare


class ChangeKind(StrEnum):
    NEW = "new"  # the earlier campaign proves that it was survived
    WORSE = "worse"  # less has to fail, or what was degraded fails
    BETTER = "better"  # what failed is degraded
    GONE = "gone"  # the later campaign proves that it is survived
    FIRST_SEEN = "first seen"  # found now, and nobody knows what was before
    NOT_KNOWN = "not known"  # found before, and nobody knows what is now


_ORDER = tuple(ChangeKind)
_GRAVEST = (Verdict.FAILED, Verdict.DEGRADED)


@dataclass(frozen=True, slots=True)
class CampaignChange:
    kind: ChangeKind
    finding: Finding  # of the later campaign, or of the earlier one if it is not among those
    words: str  # how it was, or why nobody knows


@dataclass(frozen=True, slots=True)
class CampaignChanges:
    before: str  # the id of the earlier campaign
    now: str
    changes: tuple[CampaignChange, ...]  # what matters most first
    same: int  # findings that stay
    not_explored: tuple[str, ...]  # request classes of the earlier campaign that the later one does not have
    first_explored: tuple[str, ...]  # and the other way round

    def of(self, *kinds: ChangeKind) -> list[CampaignChange]:
        return [each for each in self.changes if each.kind in kinds]


def shares_requests(before: Campaign, now: Campaign) -> bool:
    return bool({*before.summary.started.requests} & {*now.summary.started.requests})


def changes_between(before: Campaign, now: Campaign) -> CampaignChanges:
    earlier, later = before.summary.started.requests, now.summary.started.requests
    old = [each for each in accept(before.summary) if each.finding.request in later]
    new = [each for each in accept(now.summary) if each.finding.request in earlier]
    forward, backward = compare(old, now.events), compare(new, before.events)
    known_before = {(each.accepted.finding.id, each.accepted.failed): each for each in backward.reviewed}
    found = [
        *(
            change
            for compared in (*forward.findings, *forward.degradations)
            if compared.finding.request in earlier
            for change in _appeared(compared, known_before)
        ),
        *(change for reviewed in forward.reviewed for change in _became(reviewed)),
    ]
    return CampaignChanges(
        before.id,
        now.id,
        tuple(
            sorted(
                found, key=lambda each: (_ORDER.index(each.kind), each.finding.outcome.verdict is not Verdict.FAILED)
            )
        ),
        sum(each.verdict is Verdict.FAILED and each.accepted.failed for each in forward.reviewed),
        tuple(name for name in earlier if name not in later),
        tuple(name for name in later if name not in earlier),
    )


def _appeared(compared: Compared, known_before: dict[tuple[str, bool], Reviewed]) -> Iterator[CampaignChange]:
    finding = compared.finding
    if compared.standing is Standing.WORSE:
        yield CampaignChange(ChangeKind.WORSE, finding, compared.because)
    elif compared.standing is Standing.NEW:
        failed = finding.outcome.verdict is Verdict.FAILED
        was = known_before[finding.id, failed]
        if was.verdict is Verdict.SURVIVED:
            yield CampaignChange(ChangeKind.NEW, finding, "was survived before")
        elif was.verdict is Verdict.DEGRADED and failed:
            yield CampaignChange(ChangeKind.WORSE, finding, "was only degraded before")
        else:
            why = was.words if was.verdict is Verdict.UNKNOWN else "it was seen, but in no minimal cut"
            yield CampaignChange(ChangeKind.FIRST_SEEN, finding, f"not known before: {why}")


def _became(reviewed: Reviewed) -> Iterator[CampaignChange]:
    finding: Finding = reviewed.accepted.finding
    if reviewed.verdict is Verdict.UNKNOWN:
        yield CampaignChange(ChangeKind.NOT_KNOWN, finding, reviewed.words)
    elif reviewed.verdict is Verdict.SURVIVED:
        yield CampaignChange(ChangeKind.GONE, finding, reviewed.words)
    elif reviewed.better:
        yield CampaignChange(ChangeKind.BETTER, finding, reviewed.words)

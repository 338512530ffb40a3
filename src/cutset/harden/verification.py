"""Whether hardening helped: every known cut injected again (AFVR_b of FastFI §4.5.2, eq. 9), and what it cost.

Of each cut a prediction was made: it is gone if what was hardened mitigates it. Remedies may bring failures of their
own, so that what is found afterwards is compared with what was known before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from cutset.model.finding import Finding
from cutset.model.hardening import CallsObserved, CutRechecked, Effort, HardeningEvent
from cutset.model.summary import CampaignSummary

NOTABLE_SECONDS = 0.005  # a median that grew by less is noise
NOTABLE_FACTOR = 1.2


@dataclass(frozen=True, slots=True)
class ClassResult:
    request: str
    before: int
    expected: int  # to remain
    remaining: int

    @property
    def afvr(self) -> float:
        return self.remaining / self.before

    @property
    def expected_afvr(self) -> float:
        return self.expected / self.before


@dataclass(frozen=True, slots=True)
class Verification:
    rechecks: tuple[CutRechecked, ...]
    # Found afterwards; none of the three if it was not looked for.
    new_cuts: tuple[Finding, ...] = ()  # that contain no cut that was known
    grown_cuts: tuple[Finding, ...] = ()  # that contain one: it takes more failures now
    new_degradations: tuple[Finding, ...] = ()
    explored: bool = False
    before: Mapping[str, Effort] = field(default_factory=dict, hash=False)  # by request; empty: not measured
    after: Mapping[str, Effort] = field(default_factory=dict, hash=False)

    @property
    def classes(self) -> tuple[ClassResult, ...]:
        requests = sorted({each.finding.request for each in self.rechecks})
        return tuple(_class_result(request, self.rechecks) for request in requests)

    @property
    def afvr(self) -> float:
        return fsum(each.afvr for each in self.classes) / max(len(self.classes), 1)

    @property
    def expected_afvr(self) -> float:
        return fsum(each.expected_afvr for each in self.classes) / max(len(self.classes), 1)

    @property
    def disappointments(self) -> tuple[CutRechecked, ...]:
        """Expected to be gone, and not."""
        return tuple(each for each in self.rechecks if each.expected_gone and each.remains)

    @property
    def slower(self) -> dict[str, tuple[float, float]]:
        """The requests whose median grew notably, from and to seconds."""
        medians = {request: (self.before[request].seconds, self.after[request].seconds) for request in self._compared}
        return {
            request: (then, now)
            for request, (then, now) in medians.items()
            if now - then > NOTABLE_SECONDS and now > NOTABLE_FACTOR * then
        }

    @property
    def amplified(self) -> dict[str, tuple[float, float]]:
        """The requests that make notably more calls than before, from and to calls per request.

        That a request makes more calls under faults than when it failed of them is no wonder. Only what goes beyond
        what a healthy one made is an amplification.
        """
        found = {}
        for request in self._compared:
            then, now = self.before[request], self.after[request]
            usual, most = max(then.calls, then.calls_with_faults), max(now.calls, now.calls_with_faults)
            if most > NOTABLE_FACTOR * usual:
                found[request] = (usual, most)
        return found

    @property
    def _compared(self) -> list[str]:
        return sorted(self.before.keys() & self.after.keys())


def verification_of(
    events: Iterable[HardeningEvent], known: CampaignSummary, explored: CampaignSummary | None
) -> Verification | None:
    """From what was recorded, the campaign that was hardened against, and the one afterwards; None without rechecks."""
    rechecks: dict[str, CutRechecked] = {}
    observed: list[CallsObserved] = []
    for event in events:
        match event:
            case CutRechecked():
                rechecks[event.finding.id] = event
            case CallsObserved():
                observed.append(event)
    if not rechecks:
        return None
    new, grown = compared(known.findings, explored.findings) if explored else ((), ())
    return Verification(
        tuple(rechecks[finding.id] for finding in known.findings if finding.id in rechecks),
        new_cuts=new,
        grown_cuts=grown,
        new_degradations=new_degradations(known.degradations, explored.degradations) if explored else (),
        explored=explored is not None,
        before=observed[0].efforts if len(observed) > 1 else {},
        after=observed[-1].efforts if observed else {},
    )


def compared(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Of what was found afterwards: what is new, and what contains a cut that was known before and is larger."""
    known: dict[str, list[Finding]] = {}
    for finding in before:
        known.setdefault(finding.request, []).append(finding)
    new, grown = [], []
    for finding in after:
        inside = [each.cut for each in known.get(finding.request, ()) if each.cut <= finding.cut]
        if not inside:
            new.append(finding)
        elif finding.cut not in inside:
            grown.append(finding)
    return tuple(new), tuple(grown)


def new_degradations(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[Finding, ...]:
    known = {(each.request, each.cut) for each in before}
    return tuple(each for each in after if (each.request, each.cut) not in known)


def _class_result(request: str, rechecks: Sequence[CutRechecked]) -> ClassResult:
    own = [each for each in rechecks if each.finding.request == request]
    return ClassResult(
        request,
        before=len(own),
        expected=sum(not each.expected_gone for each in own),
        remaining=sum(each.remains for each in own),
    )

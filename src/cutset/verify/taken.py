"""Whether the callers' sidecars follow a change: seen by what they do with calls that fail or hang.

Neither Istio nor Kubernetes tell when the last sidecar has taken a change over, without rights that we do not want.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutset.errors import TargetError
from cutset.experiment.trial import Trial
from cutset.lineage.calls import calls_of
from cutset.manifests.resources import Holding
from cutset.model.effect import UNAVAILABLE, Effect, EffectKind
from cutset.model.fault import Cut, Fault
from cutset.model.finding import Finding
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.verify.observe import ObservingLaboratory

PATIENCE_SECONDS = 40.0  # Istio needs less than one, a control plane that is busy more
IN_A_ROW = 3  # as a caller may have replicas of its own, each with a sidecar
UNSEEN_SECONDS = 10.0  # where there is nothing to be seen: for so long at most istiod holds changes back, by default
BEYOND = 1.0  # seconds by which a call outlasts its timeout, so that one can tell


@dataclass(frozen=True, slots=True)
class Sign:
    """A request and a cut by which one can see that callers follow a setting."""

    request: Request
    cut: Cut
    api: Point
    setting: str
    delay_seconds: float = 0.0  # of its calls, which a timeout cuts short

    def is_seen(self, trial: Trial) -> bool:
        calls = [call for call in calls_of(trial.spans, trial.root_id) if call.attempts[0].point.of_api == self.api]
        if self.setting == "retries":
            return any(len(call.attempts) > 1 for call in calls)
        seconds = [(each.span.end_ns - each.span.start_ns) / 1e9 for call in calls for each in call.attempts]
        return bool(seconds) and max(seconds) < self.delay_seconds


def signs_of(holding: Iterable[Holding], findings: Sequence[Finding], requests: Sequence[Request]) -> list[Sign]:
    """One for each resource, which sidecars take over as a whole."""
    found: dict[str, Sign] = {}
    named = {request.name: request for request in requests}
    for each in sorted(holding, key=lambda each: each.setting):  # an attempt more is seen sooner than a timeout
        if each.new and each.site is not None and each.resource not in found:
            for sign in _signs(each, each.site, findings, named):
                found[each.resource] = sign
                break
    return list(found.values())


async def await_taken(laboratory: ObservingLaboratory, signs: Sequence[Sign]) -> None:
    """Raises TargetError if one of them was not seen."""
    if not signs:
        await asyncio.sleep(UNSEEN_SECONDS)
    for sign in signs:
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        seen = 0
        while seen < IN_A_ROW:
            seen = seen + 1 if sign.is_seen(await laboratory.observe(sign.request, sign.cut)) else 0
            if not seen and asyncio.get_running_loop().time() > deadline:
                raise TargetError(
                    f"Callers of {sign.api} do not follow its new {sign.setting}, {PATIENCE_SECONDS:g} s after it was "
                    "put into the cluster",
                    hint="See whether `istioctl proxy-status` shows their sidecars in sync, and whether another "
                    "resource decides about these calls",
                )


def _signs(holding: Holding, site: Point, findings: Sequence[Finding], named: dict[str, Request]) -> Iterator[Sign]:
    """By the smallest cut that the API is in: then it is called for certain."""
    api = site.of_api
    if holding.setting == "retries":
        if " /" not in site.api:
            return  # of gRPC calls Istio repeats some by itself, so that one more would show nothing
        effect, delay = UNAVAILABLE, 0.0
    else:
        delay = float(str(holding.value).removesuffix("s")) + BEYOND
        effect = Effect(EffectKind.DELAY, round(delay * 1000))
    for finding in sorted(findings, key=lambda each: len(each.cut)):
        own = [fault for fault in finding.cut if fault.point.of_api == api]
        if own and finding.request in named:
            fault = Fault(api, effect)
            cut = (finding.cut - frozenset(own)) | {fault}
            yield Sign(named[finding.request], cut, api, holding.setting, delay)

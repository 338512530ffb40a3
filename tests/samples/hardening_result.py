"""A hardening with one of everything that a report must show."""

from dataclasses import replace
from pathlib import Path

from cutset.harden.choose import choose
from cutset.harden.decision import Decision, HardenedSite, Hardening
from cutset.harden.failure_rates import Calls, FailureRate, Source
from cutset.harden.frontier import frontier
from cutset.harden.importance import Importance, Importances
from cutset.harden.odds import Odds
from cutset.harden.problem import Choice, problem_of
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import advise
from cutset.harden.verification import Verification
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.hardening import CutRechecked, Effort, MeshChanging
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point


def finding(request: str, *points: str, reason: str = "500") -> Finding:
    return Finding(request, Outcome(cut_of(map(Point.parse, points)), Verdict.FAILED, reason))


def _recheck(known: Finding, verdict: Verdict, reason: str) -> CutRechecked:
    return CutRechecked(request=known.request, outcome=Outcome(known.cut, verdict, reason), expected_gone=True)


CART, ADS = finding("GET /[x]", "cart/GetCart"), finding("GET /[x]", "ad/GetAds")
_PROBLEM = problem_of([CART, ADS])
_BEST = choose(_PROBLEM, 1)
assert isinstance(_BEST, Choice)
_EVIDENCE = SiteEvidence(Point("ad", "GetAds"), breaks=("GET /[x]",))
_ADVICE, _DECLINED = advise(_EVIDENCE)
DECIDED = Hardening(
    campaign="one",
    level="api",
    objective="coverage",
    decision=Decision((CART, ADS), _PROBLEM, _BEST, {_EVIDENCE.site: _EVIDENCE}),
    frontier=frontier(_PROBLEM),
    sites=(HardenedSite(_BEST.chosen[0], ("GET /[x]",), tuple(_ADVICE), tuple(_DECLINED)),),
)
CHANGE = MeshChanging(
    file=Path("/shop/mesh.yaml"),
    original=Path("/shop/mesh.yaml.before"),
    added=('ad.fallback: {"GetAds": "last-good"}',),
    kept=("ad.retries is 2",),
    left_out=("ad.timeout_seconds: x",),
)
ODDS = Odds(
    1000,
    20,
    5,
    ((CART, 15.0), (ADS, 5.0)),
    Importances(
        (Importance(Point("cart", "GetCart"), 20, 900, 5, 15), Importance(Point("ad", "GetAds"), 20, 950, 15, 5))
    ),
    failed_before_between=(12, 31),
    failed_after_between=(3, 9),
    rates={
        Point("cart", "GetCart"): FailureRate(0.015, 0.015, 0.015, Source.GIVEN),
        Point("ad", "GetAds"): FailureRate(0.0055, 0.0021, 0.0109, Source.MEASURED, Calls(1000, 5)),
        Point("email", "Send"): FailureRate(0.003, 0.001, 0.006, Source.POOLED, Calls(2000, 6)),
    },
    traffic_from={"GET /[x]": "1,000 seen in 24 h"},
)
VERIFICATION = Verification(
    (
        _recheck(ADS, Verdict.DEGRADED, "200, but missing ads"),
        _recheck(CART, Verdict.FAILED, "500 [oops]"),
    ),
    new_cuts=(finding("GET /[x]", "ad-fallback/GetAds"),),
    grown_cuts=(finding("GET /[x]", "ad/GetAds", "ad-fallback/GetAds"),),
    new_degradations=(finding("GET /[x]", "ad/GetAds", reason="200, but missing ads"),),
    explored=True,
    before={"GET /[x]": Effort(0.1, 10, 5)},
    after={"GET /[x]": Effort(0.2, 10, 20)},
)
TRIED = replace(
    DECIDED,
    odds=ODDS,
    change=CHANGE,
    undo="cp /shop/mesh.yaml.before /shop/mesh.yaml",
    verification=VERIFICATION,
    replay="cutset explore --replay",
)

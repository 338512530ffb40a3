import json
from dataclasses import replace

from cutset.harden.choose import Infeasible, choose
from cutset.harden.frontier import frontier
from cutset.harden.problem import Choice, problem_of
from cutset.harden.remedies.evidence import Evidence
from cutset.harden.remedies.registry import advise
from cutset.harden.verification import Effort, Recheck, Verification
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.report.hardening.terminal import Applied, Hardening, Odds, Site, infeasible_message, to_document, to_lines


def finding(request: str, *points: str, reason: str = "500") -> Finding:
    return Finding(request, Outcome(cut_of(map(Point.parse, points)), Verdict.FAILED, reason))


CART, ADS = finding("GET /[x]", "cart/GetCart"), finding("GET /[x]", "ad/GetAds")
PROBLEM = problem_of([CART, ADS])
BEST = choose(PROBLEM, 1)
assert isinstance(BEST, Choice)
ADVICE, DECLINED = advise(Evidence(Point("ad", "GetAds"), breaks=("GET /[x]",)))
FOUND = Hardening(
    campaign="one",
    level="api",
    objective="coverage",
    problem=PROBLEM,
    choice=BEST,
    frontier=frontier(PROBLEM),
    sites=(Site(BEST.chosen[0], ("GET /[x]",), tuple(ADVICE), tuple(DECLINED)),),
)
VERIFICATION = Verification(
    (
        Recheck(ADS, Outcome(ADS.cut, Verdict.DEGRADED, "200, but missing ads"), expected_gone=True),
        Recheck(CART, Outcome(CART.cut, Verdict.FAILED, "500 [oops]"), expected_gone=True),
    ),
    new_cuts=(finding("GET /[x]", "ad-fallback/GetAds"),),
    grown_cuts=(finding("GET /[x]", "ad/GetAds", "ad-fallback/GetAds"),),
    new_degradations=(finding("GET /[x]", "ad/GetAds", reason="200, but missing ads"),),
    explored=True,
    before={"GET /[x]": Effort(0.1, 10, 5)},
    after={"GET /[x]": Effort(0.2, 10, 20)},
)


def lines(found: Hardening) -> str:
    return "\n".join(to_lines(found))


def test_what_was_measured_stands_beside_what_was_predicted() -> None:
    text = lines(replace(FOUND, verification=VERIFICATION))
    assert "AFVR 0.500 measured, 0.000 predicted[/], 1 before" in text
    assert r"x remains[/]      GET /\[x]  cart/GetCart  [bold]not as predicted[/]  [dim]500 \[oops][/]" in text
    assert "200, but missing ads" in text
    assert r"new cut[/]       GET /\[x]  ad-fallback/GetAds" in text
    assert r"takes more[/]    GET /\[x]  ad/GetAds + ad-fallback/GetAds" in text
    assert "median 100 → 200 ms" in text
    assert "10 → 20 per request" in text
    assert "were not looked for" not in text
    assert "new cuts were not looked for" in lines(replace(FOUND, verification=replace(VERIFICATION, explored=False)))


def test_what_was_applied_kept_and_left_out_is_told_with_the_way_back() -> None:
    applied = Applied(
        ('ad.fallback: {"GetAds": "last-good"}',), ("ad.retries is 2",), ("ad.timeout_seconds: x",), "cp a b"
    )
    text = lines(replace(FOUND, applied=applied))
    assert all(part in text for part in ("+[/] ad.fallback", "kept[/] ad.retries", "left out ad.timeout", "cp a b"))
    assert "stand-in" in text
    assert to_document(replace(FOUND, applied=applied))["applied"]["undo"] == "cp a b"


def test_odds_are_told_with_the_likeliest_findings() -> None:
    text = lines(replace(FOUND, odds=Odds(1000, 20, 5, ((CART, 15.0), (ADS, 5.0)))))
    assert "Of 1,000 requests a day 20 fail for known causes; hardened, 5" in text
    assert text.index("15 a day") < text.index("5 a day", text.index("15 a day") + 8)


def test_machines_get_all_of_it() -> None:
    document = json.loads(json.dumps(to_document(replace(FOUND, verification=VERIFICATION, written=("a.yaml",)))))
    assert document["afvr_predicted"] == 0.5
    assert document["verification"]["afvr"] == 0.5
    assert document["verification"]["classes"] == [
        {"request": "GET /[x]", "before": 2, "afvr": 0.5, "afvr_expected": 0.0}
    ]
    assert [each["verdict"] for each in document["verification"]["cuts"]] == ["degraded", "failed"]
    assert document["verification"]["before"]["GET /[x]"] == {"seconds": 0.1, "calls": 10, "calls_with_faults": 5}
    assert document["sites"][0]["remedies"][0]["risks"]
    assert document["written"] == ["a.yaml"]


def test_a_budget_that_does_not_do_is_explained() -> None:
    message, hint = infeasible_message(Infeasible(1, ("a", "b"), (), (), 4))
    assert (message, hint) == (
        "A budget of 1 does not cover all high-priority requests: not `a`, `b`",
        "The smallest budget that does is 4",
    )
    assert "No budget covers `c`" in infeasible_message(Infeasible(1, ("c",), (), ("c",), 4))[0]

from dataclasses import replace
from pathlib import Path

from tests.samples.hardening_result import DECIDED, ODDS, TRIED, VERIFICATION

from cutset.harden.choose import Infeasible
from cutset.harden.decision import Hardening
from cutset.model.hardening import HealthJudged, MeshRestored
from cutset.report.hardening.terminal import infeasible_message, to_lines


def lines(found: Hardening) -> str:
    return "\n".join(to_lines(found))


def test_what_was_measured_stands_beside_what_was_predicted() -> None:
    text = lines(TRIED)
    assert "AFVR 0.500 measured, 0.000 predicted[/], 1 before" in text
    assert r"x remains[/]      GET /\[x]  cart/GetCart  [bold]not as predicted[/]  [dim]500 \[oops][/]" in text
    assert "200, but missing ads" in text
    assert r"new cut[/]       GET /\[x]  ad-fallback/GetAds" in text
    assert f"cutset explore --replay {VERIFICATION.new_cuts[0].id}" in text
    assert r"takes more[/]    GET /\[x]  ad/GetAds + ad-fallback/GetAds" in text
    assert "median 100 → 200 ms" in text
    assert "10 → 20 per request" in text
    assert "were not looked for" not in text
    unexplored = replace(VERIFICATION, explored=False)
    assert "new cuts were not looked for" in lines(replace(DECIDED, verification=unexplored))


def test_what_was_applied_kept_and_left_out_is_told_with_the_way_back() -> None:
    text = lines(TRIED)
    assert all(part in text for part in ("+[/] ad.fallback", "kept[/] ad.retries", "left out ad.timeout"))
    assert "cp /shop/mesh.yaml.before /shop/mesh.yaml" in text
    assert "stand-in" in text


def test_what_was_rolled_back_is_told_with_the_reason_and_what_it_was() -> None:
    why = "what worked before does not: `GET /` 3 of 10 times: 503 [x]"
    text = lines(replace(TRIED, restored=MeshRestored(why=why)))
    assert r"Rolled back[/]: what worked before does not: `GET /` 3 of 10 times: 503 \[x]" in text
    assert "The mesh is as it was, and each request is answered as before" in text
    assert "it was undone as by [green]cp /shop/mesh.yaml.before /shop/mesh.yaml" in text
    assert "Applied" not in text
    assert "GET / 503" in lines(replace(TRIED, restored=MeshRestored(why=why, still={"GET /": "503"})))
    assert "does not run as it did[/]: gone" in lines(replace(TRIED, restored=MeshRestored(why=why, problem="gone")))


def test_health_is_told_where_it_was_judged() -> None:
    assert "each request was sent 10 times since" in lines(replace(TRIED, health=HealthJudged(runs=10)))


def test_odds_are_told_with_the_likeliest_findings_and_what_matters_most() -> None:
    text = lines(replace(DECIDED, odds=ODDS))
    assert "Of 1,000 requests a day 20 (12 to 31) fail for known causes; hardened, 5 (3 to 9)" in text
    assert "Of 1,000 requests a day, at the pace of 2 min, 20 (" in lines(
        replace(DECIDED, odds=replace(ODDS, pace_of="2 min"))
    )
    assert "with all rates and traffic at the low or the high end of their intervals (95 %)" in text
    assert r"traffic of GET /\[x]: 1,000 seen in 24 h" in text
    assert "cart/GetCart fails in 0.015 of calls (given)" in text
    assert "ad/GetAds fails in 0.0055 of calls (0.0021 to 0.011): 5 of 1,000 were seen to" in text
    assert "email/Send fails in 0.003 of calls (0.001 to 0.006): never seen, so that all calls stand for it" in text
    assert text.index("15 a day") < text.index("5 a day", text.index("15 a day") + 8)
    assert (
        "  cart/GetCart: without it, 15 of 20 failed requests per day would succeed; it takes part in 75% of them; "
        "always down, it would fail 900\n" in text
    )
    assert text.index("cart/GetCart: without") < text.index("ad/GetAds: without")
    assert "the likelier cuts only" not in text
    in_part = replace(ODDS, importances=replace(ODDS.importances, in_part=("GET /[x]",)))
    assert r"`GET /\[x]` can fail in too many ways to solve: the numbers rest on the likelier cuts only" in lines(
        replace(DECIDED, odds=in_part)
    )


def test_files_that_were_written_are_named() -> None:
    assert "written  [green]k8s/cart.yaml[/]" in "\n".join(to_lines(DECIDED, [Path("k8s/cart.yaml")]))


def test_a_budget_that_does_not_do_is_explained() -> None:
    message, hint = infeasible_message(Infeasible(1, ("a", "b"), (), (), 4))
    assert (message, hint) == (
        "A budget of 1 does not cover all high-priority requests: not `a`, `b`",
        "The smallest budget that does is 4",
    )
    assert "No budget covers `c`" in infeasible_message(Infeasible(1, ("c",), (), ("c",), 4))[0]

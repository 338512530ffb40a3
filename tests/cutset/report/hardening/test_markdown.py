from dataclasses import replace

from tests.samples.hardening_result import DECIDED, ODDS, TRIED, VERIFICATION, finding

from cutset.harden.choose import choose
from cutset.harden.decision import Decision, HardenedSite
from cutset.harden.frontier import frontier
from cutset.harden.problem import Candidate, Choice, problem_of
from cutset.model.advice import Advice
from cutset.model.hardening import HealthJudged, MeshRestored
from cutset.report.hardening.markdown import MOST_CHARACTERS, to_markdown


def test_a_comment_says_what_to_harden_and_what_that_removes_and_leaves() -> None:
    text = to_markdown(DECIDED)
    assert text.startswith("### Harden 1 of 2 APIs\\: 1 of 2 cuts gone, proven best\n")
    assert "1. **`ad/GetAds`** removes 1 cut\n" in text
    assert "   - **fallback** against an outage" in text
    assert "**1 cut would remain**\n\n- `cart/GetCart` fails `GET /[x]`\n" in text
    assert "| 1 | 1 | 50.0% | 1 | this budget |" in text
    assert "Applied" not in text


def test_what_was_tried_comes_first_with_what_is_not_as_it_should_be() -> None:
    text = to_markdown(replace(TRIED, odds=ODDS, health=HealthJudged(runs=10)))
    assert "**Applied** to the local mesh:\n\n```\n+ ad.fallback:" in text
    assert "Each request was sent 10 times since, and answered as before." in text
    assert "```sh\ncp /shop/mesh.yaml.before /shop/mesh.yaml\n```" in text
    assert "**Verified: 1 of 2 known cuts gone.** AFVR 0.500 measured, 0.000 predicted, 1 before." in text
    assert "| `GET /[x]` | `cart/GetCart` | ✗ still fails | **no: expected gone** |" in text
    assert text.index("✗ still fails") < text.index("~ gone, degraded")
    assert f"cutset explore --replay {VERIFICATION.new_cuts[0].id}" in text
    assert "Slower: `GET /[x]`, median 100 → 200 ms" in text
    assert "Of 1,000 requests a day **20 (12 to 31)** fail for known causes; hardened, **5 (3 to 9)**." in text
    assert text.index("Verified") < text.index("removes 1 cut")


def test_what_was_rolled_back_is_told() -> None:
    text = to_markdown(replace(TRIED, restored=MeshRestored(why="`GET /` fails")))
    assert "**Rolled back**: \\`GET /\\` fails" in text
    assert "It was undone as by" in text


def test_no_comment_is_longer_than_one_may_be() -> None:
    findings = tuple(finding("GET /" + "x" * 250, f"{'s' * 200}{each}/Get") for each in range(300))
    problem = problem_of(findings)
    best = choose(problem, 300)
    assert isinstance(best, Choice)
    why = Advice("fallback", "x" * 300, "y" * 300, {f"setting-{each}": "z" * 280 for each in range(12)})
    sites = tuple(HardenedSite(each, (), (why,), ()) for each in best.chosen)
    found = replace(TRIED, decision=Decision(findings, problem, best, {}), frontier=frontier(problem), sites=sites)
    text = to_markdown(found)
    assert len(text) <= MOST_CHARACTERS
    assert text.endswith("`cutset harden --html FILE` has the rest.\n")


def test_what_others_named_stays_text_and_notifies_nobody() -> None:
    name = "x/<img src=x onerror=alert(1)> @team [a](http://b) | `code`"
    hostile = HardenedSite(Candidate("ad/GetAds"), (), (Advice(name, name, name),), ())
    text = to_markdown(replace(DECIDED, sites=(hostile,)))
    assert "<img" not in text.replace("\\<", "")  # escaped, it is text
    assert "@team" not in text
    assert "](http" not in text

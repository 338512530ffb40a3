from dataclasses import replace

from rich.text import Text
from tests.cutset.model.test_proof import campaign, request
from tests.samples.campaign import choice, cut, points

from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.report.campaign.proof import to_document, to_lines, verdict_line

CHECKED = campaign(
    request(),
    request(
        name="POST /pay",
        claimed_up_to=2,
        exact_up_to=0,
        proven_up_to=0,
        assumption="failures do not upset each other",
        open=cut("a/1"),
        findings=(),
        uncoverable=(Uncoverable("x/1", OutOfReach.PAST_MESH, "cart"),),
        trusted=(cut("b/1"),),
        varying=True,
        trials=3,
        by_failover=True,
    ),
    request(name="GET /[bold]", wrong=("said to be exact up to size 2, but proven up to 1",), proven_up_to=-1),
)
EXPECTED = """\
one  9 records, chain whole, not authenticated, head aaaaaaaaaaaaaaaa

GET /  exact up to size 2, by 5 runs over 3 points
  2 findings proven, 2 of them minimal

POST /pay  exact up to size 0, by 5 runs over 3 points
  ? not proven  what is said beyond that rests on: failures do not upset each other
    derived here: up to size 2 it would hold if what is trusted to fail did, and to fail less than what was survived \
never did harm, which assumes more
  ? open  a/1
  ? untested  b/1  trusted to fail, since it fails another request
  ! not covered  x/1  called by cart past the mesh: no sidecar saw it
  ~ runs vary  what fails less than 64% of requests may be overlooked (3 trials per experiment or more; 95% certainty)
"""


def plain(text: str) -> str:
    return "\n".join(Text.from_markup(line).plain.rstrip() for line in text.splitlines())


def test_the_whole_proof_in_words_with_what_it_assumes_and_what_it_does_not_cover() -> None:
    lines = plain("\n".join(to_lines(CHECKED)))

    assert lines.startswith(EXPECTED)
    assert "\nGET /[bold]  nothing is proven: nothing was injected\n" in lines
    assert "  ✗ does not hold  said to be exact up to size 2, but proven up to 1\n" in lines
    assert "\nTheorem      Each set of at most so many faults, one per call, contains a finding or survives." in lines
    assert "\nAssumes      The same faults have the same consequences." in lines
    assert "can do with any of its replicas." in lines
    assert "effects other than abort(503); larger sets" in lines


def test_one_line_ends_an_exploration() -> None:
    sealed = campaign(request(), sealed=True)
    assert plain(verdict_line(sealed)) == (
        "✓ checked    exact up to size 2 in all requests, proven again from the ledger alone  "
        "9 records, chain whole, sealed with this key"
    )
    words = {
        "1 of its claims do not hold: GET /: wrong": campaign(request(wrong=("wrong",))),
        "its claims hold; it was interrupted": campaign(request(), finished=False),
        "its claims hold; not all that was asked for is proven of GET /": campaign(request(proven_up_to=1)),
        "its claims hold; not covered: x/1": campaign(request(uncoverable=(Uncoverable("x/1", OutOfReach.PAST_MESH),))),
        "its claims hold; untested: 1 set": campaign(request(trusted=(cut("x/1"),))),
    }
    for expected, checked in words.items():
        assert expected in plain(verdict_line(checked))


def test_the_document_has_all_of_it() -> None:
    document = to_document(CHECKED)

    assert document["proven"] is False
    assert document["refuted"] == ["GET /[bold]: said to be exact up to size 2, but proven up to 1"]
    second = document["requests"][1]
    assert (second["proven_up_to"], second["open"], second["overlooked_share"]) == (0, ["a/1:abort(503)"], 0.6443)


def test_with_several_effects_the_proof_says_which_what_stands_for_what_and_where_none_is_possible() -> None:
    untried = request(faults=6, untried=points("a/1"), claimed_up_to=2, exact_up_to=1, proven_up_to=1)
    effects = choice("abort(503)", "timeout", pay="empty")
    checked = campaign(untried, effects=effects, certificates="classes")

    lines = plain("\n".join(to_lines(checked)))

    assert "exact up to size 1, by 5 runs over 3 points with 6 faults" in lines
    assert "and effects that look alike alone do so together, which assumes more" in lines
    assert "  ! not covered  a/1  none of the effects is possible there" in lines
    assert "effects other than abort(503), timeout; empty at pay; larger sets" in lines
    assert to_document(checked)["effects"] == {"usual": ["abort(503)", "timeout"], "at": {"pay": ["empty"]}}
    assert "not covered: a/1" in verdict_line(campaign(replace(untried, proven_up_to=2)))

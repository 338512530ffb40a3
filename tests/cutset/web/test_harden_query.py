from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from cutset.config.harden import ApiChoice, HardenChoice, Objective
from cutset.errors import UsageError
from cutset.harden.problem import CandidateLevel
from cutset.web.harden_query import ApiState, HardenQuery, query_of

WHOLE = HardenQuery(
    campaign="one",
    budget=2.5,
    level=CandidateLevel.CALL_SITE,
    objective=Objective.AVAILABILITY,
    high=("GET /", "POST /pay?x=1&y"),
    costs={"web>cart/GetCart": 5.0, "ad/GET /a=b&c": 0.25},
    states={"ad/GetAds": ApiState.UNTOUCHABLE, "payment/Charge": ApiState.OPEN},
)


@pytest.mark.parametrize("query", [WHOLE, HardenQuery("one"), HardenQuery("one", budget=0)])
def test_an_address_says_all_of_it(query: HardenQuery) -> None:
    parts = urlsplit(query.address("/harden/choice"))
    assert parts.path == "/harden/choice"
    assert query_of(parse_qsl(parts.query)) == query


def test_what_is_left_empty_was_not_said() -> None:
    assert query_of([("campaign", "one"), ("budget", " "), ("cost:ad/GetAds", ""), ("level", "")]) == HardenQuery("one")


def test_what_was_edited_wins_over_the_configuration_and_leaves_the_rest() -> None:
    configured = HardenChoice(
        high=("GET /",),
        apis={
            "ad/GetAds": ApiChoice(cost=3, fallback="last-good"),
            "payment/Charge": ApiChoice(untouchable=True, hardened=True),
            "email/Send": ApiChoice(cost=4),
        },
    )
    wishes = WHOLE.applied_to(configured)
    assert wishes.high == ("GET /",)
    assert wishes.apis["ad/GetAds"] == ApiChoice(cost=3, fallback="last-good", untouchable=True)
    assert wishes.apis["payment/Charge"] == ApiChoice()
    assert wishes.apis["email/Send"] == ApiChoice(cost=4)
    assert wishes.apis["web>cart/GetCart"] == ApiChoice(cost=5)
    assert query_of([]).applied_to(configured) == configured


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("budget", "much"), "`much` is not a number"),
        (("budget", "-1"), "A budget of `-1`: expected a number from 0 on"),
        (("budget", "nan"), "A budget of `nan`"),
        (("cost:ad/GetAds", "0"), "A cost of `0`: expected a number above 0"),
        (("cost:ad/GetAds", "inf"), "A cost of `inf`"),
        (("level", "planet"), "There is no `planet` to choose"),
        (("is:ad/GetAds", "<script>"), "There is no `<script>` to choose"),
    ],
)
def test_what_makes_no_sense_is_refused(pair: tuple[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        query_of([pair])
    assert message in caught.value.message


def test_the_command_does_the_same_in_a_terminal() -> None:
    assert HardenQuery("one", budget=3).command(Path(".cutset"), "--verify") == (
        "cutset harden one --budget 3 --verify"
    )
    assert WHOLE.command(Path("/kept")) == (
        "cutset harden one --budget 2.5 --level call-site --objective availability --high 'GET /' "
        "--high 'POST /pay?x=1&y' --cost costs.yaml --store /kept"
    )


def test_what_is_as_configured_is_no_edit() -> None:
    configured = HardenChoice(apis={"cart/GetCart": ApiChoice(cost=5), "ad/GetAds": ApiChoice(untouchable=True)})
    said = HardenQuery(
        costs={"web>cart/GetCart": 5.0, "ad/GetAds": 1.0, "payment/Charge": 2.0},
        states={"ad/GetAds": ApiState.UNTOUCHABLE, "web>cart/GetCart": ApiState.OPEN},
    )
    assert said.without_usual(configured) == HardenQuery(costs={"payment/Charge": 2.0})
    assert list(said.applied_to(configured).apis) == ["cart/GetCart", "ad/GetAds", "payment/Charge"]

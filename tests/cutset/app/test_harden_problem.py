from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.campaign import audited
from tests.samples.hardening import EVENTS, RATES, TRAFFIC, fill, ingest_home_pages

from cutset.app.harden_grounds import gather
from cutset.app.harden_problem import HardenOptions, best_choice, pose
from cutset.app.report import read_campaign
from cutset.config.harden import ApiChoice, HardenChoice, Objective
from cutset.errors import InputError, UsageError
from cutset.harden.problem import CandidateLevel, Choice
from cutset.model.point import Point

DEAR = HardenChoice(
    apis={
        "cart/GetCart": ApiChoice(cost=5),
        "ad/GetAds": ApiChoice(untouchable=True),
        "email/SendInvoice": ApiChoice(cost=2),
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return fill(tmp_path / "store")


def best(store: Path, wishes: HardenChoice = HardenChoice(), **options: object) -> Choice:  # noqa: B008 -- it is frozen
    known, wanted = gather(read_campaign(store), store, wishes), HardenOptions(**options)  # type: ignore[arg-type]
    return best_choice(pose(known, wishes, wanted))


def names(choice: Choice) -> set[str]:
    return {each.name for each in choice.chosen}


def test_costs_and_priorities_decide(store: Path) -> None:
    assert names(best(store, budget=1)) == {"cart/GetCart"}
    assert names(best(store, DEAR, budget=3)) == {"payment/Charge"}
    hardened = HardenChoice(high=("POST /pay",), apis={"payment/Charge": ApiChoice(hardened=True)})
    assert names(best(store, hardened, budget=1)) == {"cart/GetCart"}


def test_a_budget_that_does_not_do_is_refused_with_one_that_does(store: Path) -> None:
    with pytest.raises(UsageError, match="No budget covers `GET /`"):
        best(store, DEAR, high=("GET /",))
    with pytest.raises(UsageError, match="not `POST /pay`") as caught:
        best(store, DEAR, high=("POST /pay",))
    assert caught.value.hint == "The smallest budget that does is 6"


def test_call_sites_are_named_by_their_callers_where_those_are_known(tmp_path: Path) -> None:
    ads, cart = Point.parse("ad/GetAds"), Point.parse("cart/GetCart")
    known = replace(audited("POST /pay"), edges=((ads, cart),))
    store = fill(tmp_path, [*EVENTS[:2], known, *EVENTS[4:]])
    assert names(best(store, level=CandidateLevel.CALL_SITE, budget=9)) >= {"ad>cart/GetCart", "cart/GetCart"}


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (HardenChoice(apis={"crat/GetCart": ApiChoice()}), "`crat/GetCart` was not called in this campaign"),
        (HardenChoice(high=("GET /nowhere",)), "There is no request `GET /nowhere` in this campaign"),
        (HardenChoice(high=("busiest",)), "Which request is the busiest is not known"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(store: Path, wishes: HardenChoice, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        best(store, wishes)
    assert message in caught.value.message


def test_the_busiest_request_is_the_one_that_traces_show_most(store: Path) -> None:
    ingest_home_pages(store)
    assert names(best(store, high=("busiest",), budget=2)) == {"cart/GetCart", "ad/GetAds"}  # both of GET /


def test_availability_needs_rates_and_prefers_what_fails_often(store: Path) -> None:
    with pytest.raises(InputError, match="The failure rate of"):
        best(store, objective=Objective.AVAILABILITY)
    wishes = HardenChoice(apis={api: ApiChoice(failure_rate=rate) for api, rate in RATES.items()}, traffic=TRAFFIC)
    found = best(store, wishes, objective=Objective.AVAILABILITY, budget=1)
    assert (names(found), found.proven) == ({"ad/GetAds"}, True)

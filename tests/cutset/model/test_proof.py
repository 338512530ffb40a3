from typing import Any

import pytest
from tests.samples.campaign import cut

from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.effect import EffectChoice
from cutset.model.proof import CheckedCampaign, CheckedRequest


def request(**fields: Any) -> CheckedRequest:
    known: dict[str, Any] = {
        "name": "GET /",
        "asked_up_to": 2,
        "claimed_up_to": 2,
        "exact_up_to": 2,
        "assumption": "",
        "proven_up_to": 2,
        "assumed_up_to": 2,
        "open": None,
        "findings": (cut("a/1"), cut("b/1", "c/1")),
        "degraded": 0,
        "points": 3,
        "faults": 3,
        "untried": frozenset(),
        "runs": 5,
        "uncoverable": (),
        "undecided": (),
        "trusted": (),
        "by_failover": False,
        "trials": 1,
        "varying": False,
        "unfinished": "",
        "wrong": (),
    }
    return CheckedRequest(**(known | fields))


def campaign(*requests: CheckedRequest, **fields: Any) -> CheckedCampaign:
    known: dict[str, Any] = {
        "id": "one",
        "effects": EffectChoice(),
        "certificates": "exact",
        "records": 9,
        "head": "a" * 64,
        "sealed": False,
        "finished": True,
        "wrong": (),
    }
    return CheckedCampaign(requests=requests, **(known | fields))


def test_a_campaign_is_proven_when_each_request_is_and_nothing_is_wrong() -> None:
    assert campaign(request(), request()).proven
    assert not campaign(request(), finished=False).proven
    assert not campaign(request(), wrong=("the chain is broken",)).proven


@pytest.mark.parametrize(
    "gap",
    [
        {"proven_up_to": 1},
        {"wrong": ("no",)},
        {"unfinished": "the budget is spent"},
        {"uncoverable": (Uncoverable("x/1", OutOfReach.PAST_MESH),)},
        {"undecided": (cut("x/1"),)},
        {"trusted": (cut("x/1"),)},
    ],
)
def test_whatever_is_left_open_keeps_a_request_from_being_proven(gap: dict[str, Any]) -> None:
    assert not campaign(request(**gap)).proven


def test_a_data_store_that_no_fault_reaches_is_told_and_leaves_nothing_open() -> None:
    assert campaign(request(uncoverable=(Uncoverable("redis", OutOfReach.DATA_STORE),))).proven


def test_a_finding_is_minimal_if_all_smaller_sets_are_decided() -> None:
    assert request().minimal == request(proven_up_to=1).minimal == 2
    assert request(proven_up_to=0).minimal == 1


def test_what_does_not_hold_is_told_with_its_request() -> None:
    refuted = campaign(request(wrong=("claims too much",)), wrong=("broken",)).refuted

    assert refuted == ("broken", "GET /: claims too much")


def test_only_where_runs_vary_something_may_be_overlooked() -> None:
    assert request(trials=1).overlooked == 0
    assert request(trials=1, varying=True).overlooked == pytest.approx(0.955)
    assert request(trials=60, varying=True).overlooked == pytest.approx(0.05, abs=0.001)

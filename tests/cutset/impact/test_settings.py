from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import with_config

from cutset.config.yaml import STRICT, validate
from cutset.errors import UsageError
from cutset.impact.settings import ImpactSettings
from cutset.model.fault import Fault
from cutset.model.impact import ImpactWindow, Matching, TrafficSource, UserKey
from cutset.model.point import Point

CHARGE = Point("payment", "Charge")


@with_config(STRICT)
@dataclass(frozen=True)
class File:
    impact: ImpactSettings


def test_live_users_are_spared_more_than_requests_of_our_own() -> None:
    assert ImpactSettings().shares(TrafficSource.LIVE) == (0.05,)
    assert ImpactSettings().shares(TrafficSource.LOAD) == (0.5,)
    assert ImpactSettings().shares(TrafficSource.REPLAY) == (0.5,)


def test_a_share_or_a_ramp_that_is_given_holds_for_every_traffic() -> None:
    for traffic in TrafficSource:
        assert ImpactSettings(share=1.0).shares(traffic) == (0.01,)
        assert ImpactSettings(ramp=(0.1, 1.0, 5.0)).shares(traffic) == (0.001, 0.01, 0.05)


def test_the_cut_has_the_effect_at_the_rate_at_each_point() -> None:
    settings = ImpactSettings(effect="delay(250ms)", rate=30)

    assert settings.cut_at([CHARGE]) == {Fault.parse("payment/Charge:delay(250ms),30%")}


def test_what_is_asked_for_is_recorded_in_shares_from_0_to_1() -> None:
    settings = ImpactSettings(
        share=2.0, before=1.0, margin=3.0, matching=Matching(headers={"X-Beta": "yes"}), user=UserKey(cookie="session")
    )

    started = settings.started(settings.cut_at([CHARGE]), TrafficSource.LIVE, entries=("GET /",), by="alice@desk")

    assert started.shares == (0.02,)
    assert started.margin == 0.03
    assert started.seconds == {ImpactWindow.BEFORE: 1.0, ImpactWindow.DURING: 120.0, ImpactWindow.AFTER: 30.0}
    assert started.matching.headers == {"x-beta": "yes"}
    assert (started.user.cookie, started.entries, started.by) == ("session", ("GET /",), "alice@desk")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"share": 51.0}, "a share of 51 % and a control of equal size are more than all requests"),
        ({"ramp": (1.0, 60.0)}, "a share of 60 %"),
        ({"ramp": (1.0,), "share": 1.0}, "has `share` and `ramp`"),
        ({"ramp": (5.0, 1.0)}, "expected shares that rise, found 5 %, 1 %"),
        ({"user": UserKey("x-user", "session")}, "has the header `x-user` and the cookie `session`"),
        ({"matching": Matching(path="cart")}, "expected a path that begins with `/`, found `cart`"),
    ],
)
def test_what_does_not_go_together_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ImpactSettings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rate": 0}, "`impact.rate`: expected a whole percentage from 1 to 100, found 0"),
        ({"share": 0}, "`impact.share`: expected a percentage above 0, at most 100, found 0"),
        ({"during": 0}, "`impact.during`: expected seconds above 0, at most a day"),
        ({"effect": "explode"}, "`impact.effect`: expected an effect"),
        ({"matching": {"paths": "/"}}, "`impact.matching.paths`: unknown key"),
    ],
)
def test_a_section_of_the_file_that_is_wrong_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        validate(Path("cutset.yaml"), File, {"impact": wrong})


def test_a_section_of_the_file_is_the_settings() -> None:
    content = {"rate": 30, "ramp": [0.1, 1, 5], "matching": {"path": "/cart/*"}, "user": {"header": "x-user"}}

    assert validate(Path("cutset.yaml"), File, {"impact": content}).impact == ImpactSettings(
        rate=30, ramp=(0.1, 1.0, 5.0), matching=Matching(path="/cart/*"), user=UserKey(header="x-user")
    )

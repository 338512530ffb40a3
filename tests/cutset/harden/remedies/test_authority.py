import pytest

from cutset.harden.remedies.authority import decides_who_may
from cutset.harden.remedies.evidence import SiteEvidence, safe_to_repeat
from cutset.harden.remedies.fallback import advise
from cutset.model.point import Point


@pytest.mark.parametrize(
    "name",
    [
        "user/CheckUser",
        "user/VerifyPassword",
        "gateway/Login",
        "web/GET /login",
        "web/GET /oauth/token",
        "users/GetSession",
        "users/ListPermissions",
        "users/is_authorized",
        "users/GetAuthToken",
        "users/ValidateJWT",
        "auth/GetUser",
        "auth-service/Get",
        "iam/GetThing",
        "shop/CanAccess",
        "shop/HasRole",
        "shop/IsAllowed",
        "shop/GetOTP",
        "users/SignIn",
    ],
)
def test_what_decides_who_may_do_what_is_told_by_its_name(name: str) -> None:
    evidence = SiteEvidence(Point.parse(name), breaks=("GET /",))
    assert decides_who_may(evidence.site)
    advice = advise(evidence)
    assert (advice.settings, advice.survives_outage) == ({}, True)
    assert "no older answer may stand for" in advice.why


@pytest.mark.parametrize(
    "name",
    ["cart/GetCart", "checkout/PlaceOrder", "web/POST /cart/checkout", "books/GetAuthor", "hotel/Ping", "shop/Signal"],
)
def test_other_names_with_the_same_letters_are_left_alone(name: str) -> None:
    assert decides_who_may(Point.parse(name)) == ""


def test_calls_that_were_seen_to_be_of_a_user_are_one_users_own() -> None:
    evidence = SiteEvidence(Point("cart", "GetCart"), proved=True)
    assert "carry credentials" in evidence.deciding
    assert advise(evidence).settings == {}


def test_a_check_is_not_taken_to_be_harmless_to_repeat() -> None:
    """A second attempt at a password may be one too many."""
    assert safe_to_repeat(SiteEvidence(Point("user", "CheckUser"))) == ""
    assert safe_to_repeat(SiteEvidence(Point("cart", "GetCart")))
    assert safe_to_repeat(SiteEvidence(Point("user", "CheckUser"), recovered=3))

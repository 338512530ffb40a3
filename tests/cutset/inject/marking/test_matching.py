import pytest

from cutset.inject.marking.matching import USER_HEADER, AskedRequest, matches, user_of
from cutset.model.impact import Matching, UserKey

NOBODY = UserKey()
ASKED = AskedRequest(
    "GET",
    "/product/42?currency=EUR&currency=USD&debug=",
    {"x-tenant": "blue", "cookie": 'theme=dark; session="abc="', "accept-language": "de"},
)


@pytest.mark.parametrize(
    "matching",
    [
        Matching(),
        Matching(method="GET"),
        Matching(path="/product/42"),
        Matching(path="/product/*"),
        Matching(path="/product/{id}"),
        Matching(path="/product/**"),
        Matching(path="/*/**"),
        Matching(path="/**"),
        Matching(headers={"x-tenant": "blue"}),
        Matching(headers={"x-tenant": "", "accept-language": "de"}),
        Matching(cookies={"theme": "dark", "session": "abc="}),
        Matching(cookies={"theme": ""}),
        Matching(query={"currency": "USD"}),
        Matching(query={"currency": "EUR", "debug": ""}),
        Matching("GET", "/product/*", {"x-tenant": "blue"}, {"theme": "dark"}, {"debug": ""}),
    ],
)
def test_a_request_matches_if_all_that_is_said_holds(matching):
    assert matches(matching, ASKED, NOBODY)


@pytest.mark.parametrize(
    "matching",
    [
        Matching(method="POST"),
        Matching(path="/product"),
        Matching(path="/product/*/reviews"),
        Matching(path="/prod*"),
        Matching(path="/product/4."),
        Matching(path="/product/42/**"),
        Matching(path="/cart/**"),
        Matching(headers={"x-tenant": "green"}),
        Matching(headers={"x-tenant": "blue", "x-beta": ""}),
        Matching(cookies={"theme": "light"}),
        Matching(cookies={"hem": ""}),
        Matching(query={"currency": "GBP"}),
        Matching(query={"page": ""}),
        Matching("GET", "/product/*", {"x-tenant": "blue"}, {"theme": "dark"}, {"debug": "1"}),
    ],
)
def test_a_request_does_not_match_if_one_of_it_does_not_hold(matching):
    assert not matches(matching, ASKED, NOBODY)


def test_a_user_is_known_by_a_header_or_by_a_cookie_or_not_at_all():
    assert user_of(ASKED, UserKey(header="X-Tenant")) == "blue"
    assert user_of(ASKED, UserKey(cookie="session")) == "abc="
    assert user_of(ASKED, NOBODY) == ""
    assert user_of(ASKED, UserKey(header="x-user")) == ""


def test_what_the_edge_says_about_the_user_counts_where_users_are_told_apart():
    asked = AskedRequest("GET", "/", {USER_HEADER: "alice"})
    assert user_of(asked, UserKey(header="authorization")) == "alice"
    assert user_of(asked, UserKey(cookie="session")) == "alice"
    assert user_of(asked, NOBODY) == ""
    assert matches(Matching(cookies={"session": "alice"}), asked, UserKey(cookie="session"))
    assert not matches(Matching(cookies={"session": "bob"}), asked, UserKey(cookie="session"))
    assert matches(Matching(headers={"authorization": "alice"}), asked, UserKey(header="Authorization"))

"""What holds for every page of every dashboard: of the real demo, of a hostile store, of an empty one."""

from collections.abc import Callable
from functools import cache

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Look
from tests.samples.dashboard_in_browser import (
    NARROW,
    THEMES,
    Crawled,
    Dashboard,
    crawled,
    sideways,
    violations,
)

from cutset.web.frame import PLACES

PAGES = (
    *(address for address, _ in PLACES),
    "/campaigns/{run}",
    "/campaigns/{run}/changes",
    "/campaigns/{run}/findings/{id}",
    "/hardenings",
    "/hardenings/{run}",
    "/drills/{run}",
    "/impacts/{run}",
    "/reproductions/{run}",
)


@pytest.fixture(scope="session")
def crawl() -> Callable[[Dashboard], Crawled]:
    """Each dashboard once."""
    return cache(crawled)


@pytest.fixture(params=["demo_dashboard", "hostile_dashboard", "empty_dashboard"])
def dashboard(request: pytest.FixtureRequest) -> Dashboard:
    found: Dashboard = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("kind", PAGES)
def test_everybody_can_read_it(
    look: Look, crawl: Callable[[Dashboard], Crawled], dashboard: Dashboard, kind: str
) -> None:
    """In both themes, by screen reader, on a small screen; and whatever it shows, it does what no page may do."""
    addresses = crawl(dashboard).pages.get(kind, [])
    if not addresses:
        assert kind not in dict(PLACES)  # of what is not recorded: the menu is everywhere
        return
    page = look(dashboard).open(addresses[0])

    assert page.locator("h1").count() == 1
    assert page.title().endswith(" · Cutset")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        assert violations(page) == []
    page.set_viewport_size(NARROW)
    assert sideways(page) <= 0


def test_every_link_leads_to_a_page_that_is_there(crawl: Callable[[Dashboard], Crawled], dashboard: Dashboard) -> None:
    assert crawl(dashboard).broken == []


def test_every_kind_of_page_is_linked_and_no_other(
    crawl: Callable[[Dashboard], Crawled], demo_dashboard: Dashboard, hostile_dashboard: Dashboard
) -> None:
    assert set(crawl(hostile_dashboard).pages) == set(PAGES)
    assert set(crawl(demo_dashboard).pages) <= set(PAGES)


@pytest.mark.parametrize("address", [address for address, _ in PLACES])
def test_where_nothing_is_recorded_it_says_what_to_do(look: Look, empty_dashboard: Dashboard, address: str) -> None:
    page = look(empty_dashboard).open(address)

    assert page.locator("main .empty").count() == 1
    assert page.locator("main .empty pre, main .empty code").count() >= 1


@pytest.mark.parametrize("address", [address for address, _ in PLACES])
def test_without_scripts_it_can_be_read_all_the_same(look: Look, demo_dashboard: Dashboard, address: str) -> None:
    page = look(demo_dashboard, java_script_enabled=False).open(address)

    assert len(page.locator("main").inner_text()) > 100
    assert "undefined" not in page.locator("main").inner_text()


def test_who_has_a_keyboard_only_gets_everywhere(look: Look, demo_dashboard: Dashboard) -> None:
    page = look(demo_dashboard).open("/")

    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.reload()
    passed = []
    for _ in range(2 + len(PLACES)):
        page.keyboard.press("Tab")
        passed.append(focused(page))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert passed == ["Skip to content", "Cutset", *(name for _, name in PLACES)]
    page.keyboard.press("Enter")
    expect(page).to_have_url(demo_dashboard.at(PLACES[-1][0]))


def focused(page: Page) -> str:
    text: str = page.evaluate("document.activeElement.textContent")
    return text


def test_back_leads_back(look: Look, demo_dashboard: Dashboard) -> None:
    page = look(demo_dashboard).open("/")

    for _, name in PLACES[1:4]:
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page.locator("[aria-current=page]")).to_have_text(name)
    for _, name in PLACES[2:0:-1]:
        page.go_back()
        expect(page.locator("[aria-current=page]")).to_have_text(name)


def test_what_was_asked_for_with_the_token_is_not_in_any_address(look: Look, demo_dashboard: Dashboard) -> None:
    page = look(demo_dashboard).page

    assert page.url == demo_dashboard.at("/")
    assert "token" not in page.evaluate("document.referrer + document.cookie + JSON.stringify(history.state)")

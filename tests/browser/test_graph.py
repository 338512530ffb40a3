"""The service graph of the real shop: calls that fail in one's mind, and one that is tried for real."""

import re

from playwright.sync_api import Page, expect
from tests.browser.conftest import Demo, Look

GRAPH = "#graph"
CART = "cart/GetCart"
SURVIVED_TOGETHER = ("cart/EmptyCart", "payment/Charge", "recommendation/ListRecommendations")


def point(name: str) -> str:
    """Where it is in the picture."""
    return f'{GRAPH} [data-point="{name}"]'


def answers(page: Page) -> dict[str, str]:
    """The verdict on each request class, as the panel says it."""
    rows = page.locator("#graph-panel [data-verdict]").all()
    return {str(row.get_attribute("data-request")): str(row.get_attribute("data-verdict")) for row in rows}


def test_a_click_on_a_call_says_at_once_what_becomes_of_each_request(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/graph?campaign={demo.campaign}")
    page.locator(point(CART)).first.click()

    expect(page.locator("#graph-panel [data-fault]")).to_have_count(1)
    assert answers(page) == {"GET /cart": "failed", "POST /cart/checkout": "failed"}
    expect(page.locator(point(CART)).first).to_have_attribute("aria-pressed", "true")
    assert "cut=cart" in page.url  # it can be sent to somebody
    page.locator(point(CART)).first.click()
    expect(page.locator("#graph-panel [data-fault]")).to_have_count(0)


def test_a_link_to_a_cut_shows_that_cut(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/graph?campaign={demo.campaign}&cut={CART}&request=GET /cart")

    assert answers(page) == {"GET /cart": "failed"}
    expect(page.locator(point(CART)).first).to_have_attribute("aria-pressed", "true")


def test_who_has_a_keyboard_only_fails_calls_too(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/graph?campaign={demo.campaign}")
    row = page.locator(point(CART)).first
    row.focus()
    page.keyboard.press("Enter")

    expect(row).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#graph-said")).to_have_text(re.compile("fail"))
    before = page.locator(GRAPH).get_attribute("viewBox")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    assert page.locator(GRAPH).get_attribute("viewBox") != before


def test_it_is_found_by_name_panned_and_zoomed(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/graph?campaign={demo.campaign}")
    page.locator("#graph-search input").fill("GetCart")
    expect(page.locator("#graph-search [role=status]")).to_have_text(re.compile("found"))
    assert page.locator(f"{GRAPH} .found").count() >= 1

    before = page.locator(GRAPH).get_attribute("viewBox")
    page.locator("#graph-tools [data-zoom=out]").click()
    zoomed = page.locator(GRAPH).get_attribute("viewBox")
    assert zoomed != before
    box = page.locator(GRAPH).bounding_box()
    assert box
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 80, box["y"] + 40, steps=4)
    page.mouse.up()
    assert page.locator(GRAPH).get_attribute("viewBox") != zoomed
    expect(page.locator("#graph-panel [data-fault]")).to_have_count(0)  # to drag is not to click


def test_without_scripts_the_list_of_calls_does_it(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard, java_script_enabled=False).open(f"/graph?campaign={demo.campaign}")
    page.locator("#graph-list summary").click()
    page.locator(f'#graph-points input[value="{CART}"]').check()
    page.get_by_role("button", name="What if these fail?").click()

    assert answers(page) == {"GET /cart": "failed", "POST /cart/checkout": "failed"}


def test_what_the_ledger_does_not_tell_is_tried_on_the_real_shop(look: Look, demo: Demo) -> None:
    """Three calls at once, which a campaign up to size two leaves open."""
    cut = " + ".join(SURVIVED_TOGETHER)
    page = look(demo.dashboard).open(f"/graph?campaign={demo.campaign}&request=POST /cart/checkout&cut={cut}")
    assert answers(page) == {"POST /cart/checkout": "unknown"}
    page.get_by_role("button", name="Try it").click()

    told = page.locator("#graph-panel [data-verdict]")
    expect(told).to_have_attribute("data-verdict", re.compile("survived|degraded|failed"))
    page.reload()
    expect(told).to_have_attribute("data-verdict", re.compile("survived|degraded|failed"))  # it is in the ledger

"""A finding of the real shop: what the user got, why, and what can be done about it."""

from playwright.sync_api import expect
from tests.browser.conftest import Demo, Look

FINDING = "a[href*='/findings/']:visible"


def test_is_reached_from_its_campaign_and_shows_the_answer_beside_the_healthy_one(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/campaigns/{demo.campaign}")
    page.locator(FINDING).first.click()

    expect(page.get_by_role("heading", name="What the user gets")).to_be_visible()
    frames = page.locator("iframe")
    assert frames.count() == 2
    for number in range(2):
        sandbox = frames.nth(number).get_attribute("sandbox")
        assert sandbox is not None
        assert "allow-scripts" not in sandbox
    assert page.locator("main svg, main .waterfall").count() >= 1
    assert page.get_by_text("--replay").count() >= 1  # the command that does it again


def test_is_tried_again_on_the_real_shop(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/campaigns/{demo.campaign}")
    page.locator(FINDING).first.click()
    page.get_by_role("button", name="Try it again").click()

    expect(page.get_by_text("Tried again just now")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("still fails").first).to_be_visible()


def test_is_accepted_into_the_baseline_with_a_reason(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/campaigns/{demo.campaign}")
    page.locator(FINDING).first.click()
    finding = page.url.rpartition("/")[2]
    page.get_by_label("Why may it stay?").fill("<b>it</b> is the cart: nothing works without it")
    page.get_by_role("button", name="Accept into the baseline").click()

    expect(page.get_by_text("<b>it</b> is the cart").first).to_be_visible()
    assert finding in demo.baseline.read_text()

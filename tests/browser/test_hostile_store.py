"""A store in which every text is an attack: nothing of it becomes markup, also where scripts of ours handle it."""

from playwright.sync_api import expect
from tests.browser.conftest import Look
from tests.samples.dashboard_in_browser import Dashboard
from tests.samples.hostile_store import CAMPAIGN, SERVICES, WIDE_CAMPAIGN


def test_calls_with_hostile_names_fail_in_ones_mind_like_others(look: Look, hostile_dashboard: Dashboard) -> None:
    window = look(hostile_dashboard)
    page = window.open(f"/graph?campaign={CAMPAIGN}")
    points = page.locator("#graph [data-point]")
    for number in range(min(points.count(), 6)):
        points.nth(number).dispatch_event("click")
        expect(page.locator("#graph-panel [data-fault]")).to_have_count(number + 1)
    page.reload()  # the address has them all
    assert page.locator("#graph-panel [data-fault]").count() == min(points.count(), 6)
    page.locator("#graph-search input").fill("<script>")
    assert not window.pwned()


def test_three_hundred_services_are_in_the_picture_and_can_be_looked_for(
    look: Look, hostile_dashboard: Dashboard
) -> None:
    page = look(hostile_dashboard).open(f"/graph?campaign={WIDE_CAMPAIGN}")

    assert page.locator("#graph [data-point]").count() >= SERVICES
    page.locator("#graph-search input").fill("service-299")
    expect(page.locator("#graph-search [role=status]")).to_contain_text("1")


def test_hostile_names_survive_the_curve_and_its_costs(look: Look, hostile_dashboard: Dashboard) -> None:
    page = look(hostile_dashboard).open(f"/harden?campaign={CAMPAIGN}")
    page.get_by_role("slider").press("End")
    expect(page.locator("#summary .chosen li").first).to_be_visible()
    page.locator("#costs summary").first.click()
    page.get_by_role("button", name="Show with these costs").click()
    expect(page.locator("#headline")).to_be_visible()


def test_an_answer_full_of_attacks_is_shown_inert(look: Look, hostile_dashboard: Dashboard) -> None:
    window = look(hostile_dashboard)
    page = window.open(f"/campaigns/{CAMPAIGN}")
    page.locator("a[href*='/findings/']:visible").first.click()
    frames = page.locator("iframe")
    expect(frames.first).to_be_attached()
    for frame in page.frames[1:]:
        assert frame.locator("script, iframe, base, meta[http-equiv], form[action], [onload], [onerror]").count() == 0
    assert not window.pwned()

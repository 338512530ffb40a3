"""What to harden on the real shop: dragged along the curve, with costs of one's own; then applied, and verified."""

import re

from playwright.sync_api import expect
from tests.browser.conftest import Demo, Look


def test_who_drags_along_the_curve_sees_at_once_what_it_buys(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/harden?campaign={demo.campaign}&budget=1")
    before = page.locator("#headline").inner_text()
    box = page.locator("#curve svg").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()

    expect(page.locator("#headline")).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"budget="))
    chosen = page.locator("#summary .chosen li").count()
    assert chosen > 1
    page.reload()
    assert page.locator("#summary .chosen li").count() == chosen


def test_the_arrow_keys_do_the_same(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/harden?campaign={demo.campaign}&budget=1")
    slider = page.get_by_role("slider")
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")

    assert slider.get_attribute("aria-valuetext") != before
    expect(page).to_have_url(re.compile("budget=2"))


def test_a_call_that_costs_more_or_may_not_be_touched_is_left_out(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/harden?campaign={demo.campaign}&budget=1")
    first = page.locator("#summary .chosen li code").first.inner_text()
    page.locator("#costs summary").first.click()
    page.get_by_label(f"State of {first}", exact=True).select_option(label="untouchable")
    page.get_by_role("button", name="Show with these costs").click()

    expect(page.locator("#section")).to_contain_text("untouchable: true")
    assert page.locator("#summary .chosen li code").first.inner_text() != first


def test_is_applied_to_the_running_mesh_verified_and_taken_back(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open(f"/harden?campaign={demo.campaign}&budget=2")
    page.get_by_role("button", name="Apply and verify").click()  # shows what would be done
    mesh_file = demo.boutique.config_file.with_name("mesh.yaml")
    before = mesh_file.read_text()
    assert "fallback" not in before
    expect(page.locator("main")).to_contain_text("How it is undone")
    page.get_by_role("button", name="Apply and verify").click()

    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    expect(page.locator("#undo")).to_be_visible()  # once it has ended
    assert "fallback" in mesh_file.read_text()
    expect(page.locator("main")).to_contain_text(re.compile(r"Verified: \d of \d+ known cuts gone"))
    expect(page.locator("main")).to_contain_text("answered as before")
    page.locator("#undo").click()
    expect(page.locator("#undo")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("Took it back")
    assert mesh_file.read_text() == before

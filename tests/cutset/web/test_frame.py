import re

import htpy as h

from cutset.web.frame import PLACES, Frame, page

FRAME = Frame("/shop/.cutset", read_only=False)
HOSTILE = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b[31m\u202e"


def test_every_place_is_in_the_menu_and_the_one_that_is_shown_is_marked() -> None:
    shown = page(FRAME, "/harden", "Harden", h.h1["Harden"])

    links = re.findall(r'<li><a href="([^"]+)"( aria-current="page")?>', shown)
    assert [address for address, _ in links] == [address for address, _ in PLACES]
    assert [address for address, marked in links if marked] == ["/harden"]
    assert "<title>Harden · Cutset</title>" in shown
    assert '<main id="content" tabindex="-1"><h1>Harden</h1></main>' in shown


def test_who_uses_a_keyboard_skips_the_menu() -> None:
    assert '<a class="skip" href="#content">Skip to content</a>' in page(FRAME, "/", "Overview")


def test_scripts_are_files_of_ours_and_none_stands_in_the_page() -> None:
    shown = page(FRAME, "/", "Overview", scripts=("live.js",))

    assert re.findall(r"<script[^>]*>", shown) == ['<script src="/static/live.js" type="module">']


def test_what_is_under_way_is_told_on_every_page_with_a_link_to_it() -> None:
    shown = page(Frame("s", read_only=True, running="A campaign", running_at="/campaigns/one"), "/", "Overview")

    assert '<a href="/campaigns/one">A campaign</a>' in shown
    assert "read-only" in shown
    assert "read-only" not in page(FRAME, "/", "Overview")


def test_names_of_others_are_text_wherever_they_stand() -> None:
    shown = page(Frame(HOSTILE, read_only=False, running=HOSTILE, running_at=HOSTILE), HOSTILE, HOSTILE, HOSTILE)

    assert "<script" not in shown
    assert "<img" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\\x1b[31m\\u202e") == 5

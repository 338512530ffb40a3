import htpy as h
import pytest

from cutset.model.outcome import Verdict
from cutset.report.page.components import (
    LONGEST,
    SIGNS,
    bounded,
    code,
    command,
    empty,
    facts,
    note,
    table,
    tiles,
    verdict,
    when,
    with_code,
)

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_a_verdict_has_a_sign_a_word_and_a_colour() -> None:
    assert str(verdict(Verdict.FAILED)) == (
        '<span class="verdict failed"><span class="sign" aria-hidden="true">✗</span> fails</span>'
    )
    assert "> for ever</span>" in str(verdict("failed", "for ever"))
    assert 'class="verdict not-coverable"' in str(verdict("not coverable"))


@pytest.mark.parametrize("said", list(Verdict))
def test_every_verdict_has_a_sign(said: Verdict) -> None:
    assert said in SIGNS


def test_what_is_no_verdict_is_said_as_it_is() -> None:
    assert "· </span>" not in str(verdict("dancing"))
    assert " dancing</span>" in str(verdict("dancing"))


@pytest.mark.parametrize(
    "shown",
    [
        verdict(HOSTILE),
        verdict("failed", HOSTILE),
        code(HOSTILE),
        command(HOSTILE),
        note(HOSTILE, kind=HOSTILE),
        tiles([(HOSTILE, HOSTILE)]),
        facts([(HOSTILE, HOSTILE)]),
        table([HOSTILE], [[HOSTILE]], caption=HOSTILE),
        empty(HOSTILE, HOSTILE, HOSTILE),
        h.p[with_code(f"`{HOSTILE}` {HOSTILE}")],
    ],
)
def test_text_of_others_stays_text_in_every_part(shown: h.Element) -> None:
    assert "<script" not in str(shown)
    assert "<img" not in str(shown)
    assert "&lt;script&gt;" in str(shown)


def test_long_names_are_cut_off_visibly() -> None:
    assert bounded("x" * LONGEST) == "x" * LONGEST
    assert bounded("x" * (LONGEST + 1)) == "x" * (LONGEST - 1) + "…"
    assert len(str(code("x" * 10_000))) < 2 * LONGEST


def test_what_is_between_backticks_is_code() -> None:
    assert str(h.p[with_code("Run `cutset ui` or `demo`")]) == (
        "<p>Run <code>cutset ui</code> or <code>demo</code></p>"
    )
    assert str(h.p[with_code("a ` b")]) == "<p>a ` b</p>"
    assert str(h.p[with_code("")]) == "<p></p>"


def test_a_table_can_be_scrolled_by_keyboard_and_says_what_it_is() -> None:
    shown = str(table(["Name", "Number"], [["a", h.td(".number")["1"]]], caption="Numbers"))

    assert '<div class="scroll" tabindex="0" role="region" aria-label="Numbers">' in shown
    assert '<caption class="visually-hidden">Numbers</caption>' in shown
    assert '<th scope="col">Name</th><th scope="col">Number</th>' in shown
    assert '<tr><td>a</td><td class="number">1</td></tr>' in shown


def test_a_cell_may_hold_what_can_be_read_once_only() -> None:
    shown = table(["Names"], [[h.td[(h.b[name] for name in "ab")]]], caption="Names")

    assert "<td><b>a</b><b>b</b></td>" in str(shown)


def test_tiles_are_terms_with_their_numbers() -> None:
    assert str(tiles([("3", "findings")])) == ('<dl class="tiles"><div><dt>findings</dt><dd>3</dd></div></dl>')


def test_where_nothing_is_it_says_what_to_do() -> None:
    assert str(empty("Nothing yet", "Run `it`", "cutset demo")) == (
        '<div class="empty"><p>Nothing yet</p><p>Run <code>it</code></p>'
        '<pre tabindex="0"><code>cutset demo</code></pre></div>'
    )
    assert str(empty("Nothing yet")) == '<div class="empty"><p>Nothing yet</p></div>'


def test_a_moment_is_told_in_one_zone_for_people_and_programs() -> None:
    assert str(when(1_800_000_000.9)) == '<time datetime="2027-01-15T08:00:00+00:00">2027-01-15 08:00:00 UTC</time>'

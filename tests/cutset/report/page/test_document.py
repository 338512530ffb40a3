import re

import htpy as h

from cutset.report.page.document import drawing, standalone, style_sheet

HOSTILE = "</title></style><script>alert(1)</script>\x1b\u202e"


def test_a_report_that_travels_is_one_file_without_scripts_that_needs_nothing() -> None:
    page = standalone("A report", h.h1["Found"])

    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert "<title>A report</title>" in page
    assert style_sheet() in page
    assert "<script" not in page
    assert not re.search(r"\b(src|href)=", page)
    assert "url(" not in page
    assert "@import" not in page
    assert 'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;' in page


def test_text_of_others_stays_text_and_nothing_hides_in_it() -> None:
    page = standalone(HOSTILE, h.p[HOSTILE])

    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert page.count("</style>") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;\\x1b\\u202e") == 2


def test_a_drawing_is_told_to_who_cannot_see_it() -> None:
    assert str(drawing("<svg></svg>", label='a "graph"')) == (
        '<div class="picture" role="img" aria-label="a &#34;graph&#34;"><svg></svg></div>'
    )
    assert str(drawing("<svg></svg>")) == '<div class="picture"><svg></svg></div>'


def test_a_wide_drawing_can_be_scrolled_by_the_keyboard() -> None:
    assert str(drawing("<svg></svg>", label="x", wide=True)).startswith('<div class="picture wide" role="img"')
    assert 'tabindex="0"' in str(drawing("<svg></svg>", label="x", wide=True))


def test_the_style_sheet_has_both_themes_small_screens_and_paper() -> None:
    sheet = style_sheet()

    assert "color-scheme: light dark" in sheet
    assert "@media (max-width" in sheet
    assert "@media print" in sheet

import html
import re
from dataclasses import replace

import pytest
from tests.samples.evidence import FAULTED, HEALTHY, HOSTILE

from cutset.model.evidence import KeptAnswer
from cutset.report.page.answer import MOST_COMPARED, POLICY, answer, difference, is_page, readable, rendered

SORRY, CART = FAULTED.answer, HEALTHY.answer
assert SORRY is not None
assert CART is not None


def json_answer(text: str) -> KeptAnswer:
    return KeptAnswer(200, "application/json; charset=utf-8", text, len(text), 0.1)


def test_a_page_is_rendered_in_a_sandbox_that_allows_nothing() -> None:
    served, travelling = str(answer("With the fault", SORRY, "/answer")), str(answer("With the fault", SORRY))

    (frame,) = re.findall(r"<iframe[^>]*>", served)
    assert 'sandbox=""' in frame
    assert 'src="/answer"' in frame
    (frame,) = re.findall(r"<iframe[^>]*>", travelling)
    assert 'sandbox=""' in frame
    (document,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(document) == rendered(SORRY)
    assert POLICY.startswith("sandbox; default-src 'none'")


def test_nothing_of_an_answer_becomes_markup_of_the_page() -> None:
    hostile = KeptAnswer(500, f"text/plain{HOSTILE}", HOSTILE, len(HOSTILE), 0.1, error=HOSTILE)
    for page in (str(answer("x", SORRY)), str(answer("x", hostile)), str(difference(CART, SORRY))):
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page


def test_status_type_length_and_time_are_told() -> None:
    page = str(answer("With the fault", SORRY))

    assert "500 Internal Server Error" in page
    assert "text/html; charset=utf-8 · 120 bytes · after 0.31 s" in page
    assert "Cut off" not in page
    assert "Cut off: 1,234 more characters were not kept." in str(answer("x", replace(SORRY, left_out=1234)))
    assert "<b>799</b>" in str(answer("x", replace(SORRY, status=799)))


def test_no_answer_says_why() -> None:
    page = str(answer("With the fault", KeptAnswer(0, "", "", 0, 10.0, error="no answer within 10 s")))

    assert "No answer" in page
    assert "no answer within 10 s" in page
    assert "<iframe" not in page
    assert "<pre" not in page


def test_a_picture_is_told_of_but_not_shown() -> None:
    page = str(answer("x", KeptAnswer(200, "image/png", "", 4096, 0.1)))

    assert "4,096 bytes, no text, so that they were not kept" in page
    assert "<iframe" not in page


def test_json_is_indented_where_it_is_whole() -> None:
    assert readable(json_answer('{"a":["ü",1]}')) == '{\n  "a": [\n    "ü",\n    1\n  ]\n}'
    assert readable(json_answer('{"a":')) == '{"a":'
    assert readable(json_answer("[" * 60_000)) == "[" * 60_000
    assert not is_page(json_answer("{}"))


def test_only_what_browsers_render_is_a_page() -> None:
    assert is_page(SORRY)
    assert is_page(replace(SORRY, content_type="application/xhtml+xml"))
    assert not is_page(replace(SORRY, content_type="text/plain"))
    assert not is_page(replace(SORRY, text=""))
    assert not is_page(None)


def test_differences_have_signs_and_what_is_equal_is_around_them() -> None:
    shown = str(difference(json_answer('{"total":19,"ads":[1]}'), json_answer('{"total":19}')))

    assert '<pre class="difference"' in shown
    assert "<del>−   &#34;total&#34;: 19,\n</del><del>−   &#34;ads&#34;: [\n</del>" in shown
    assert "<ins>+   &#34;total&#34;: 19\n</ins>" in shown
    assert "  {\n" in shown


def test_lines_that_look_like_the_head_of_a_comparison_are_compared_all_the_same() -> None:
    shown = str(
        difference(replace(CART, content_type="text/plain", text="-- a"), replace(SORRY, content_type="", text="++ b"))
    )

    assert "<del>− -- a\n</del>" in shown
    assert "<ins>+ ++ b\n</ins>" in shown


def test_pages_are_compared_tag_by_tag() -> None:
    before, after = replace(CART, text="<ul><li>a</li><li>b</li></ul>"), replace(CART, text="<ul><li>a</li></ul>")

    shown = html.unescape(str(difference(before, after)))
    assert "<del>− <li>b</li>\n</del>" in shown
    assert "  <li>a</li>\n" in shown


@pytest.mark.parametrize(
    ("healthy", "faulted", "words"),
    [
        (CART, CART, "Their texts are the same."),
        (CART, KeptAnswer(200, "image/png", "", 9, 0.1), "They are no text"),
        (CART, replace(CART, text="x\n" * (MOST_COMPARED + 1)), "more than 2,000 lines"),
    ],
)
def test_what_cannot_be_compared_says_why(healthy: KeptAnswer, faulted: KeptAnswer, words: str) -> None:
    assert words in str(difference(healthy, faulted))

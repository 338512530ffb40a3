"""Held against a reader of GitHub's Markdown, as far as one comes with what we have: `markdown-it`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cutset.report.markdown import LONGEST, MOST_CHARACTERS, block, code, document, table, text, with_code

READER = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
HOSTILE = (
    "<script>alert(1)</script>",
    "[link](http://evil.example)",
    "![picture](http://evil.example/x.png)",
    "**bold** _it_ ~~gone~~ `code`",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "a | b",
    "&lt;b&gt; &amp;",
    "<http://evil.example>",
    "\\[escaped](x)",
    "``` fence",
    "a\n\n# heading\n\n- item",
    "\x1b[31m\u202e",
    "[a]: http://evil.example",
    "$x$ $$y$$",
)


def tags(markdown: str) -> set[str]:
    return {token.tag for token in READER.parse(markdown) for token in (token, *(token.children or ())) if token.tag}


@pytest.mark.parametrize("said", HOSTILE)
def test_text_of_others_is_a_paragraph_that_says_the_same(said: str) -> None:
    assert tags(text(said)) == {"p"}


@given(st.text(alphabet=st.sampled_from("ab1 \n#*_-+.>|`~[]()!<&:@\\$={}\"'"), max_size=40))
def test_whatever_others_write_is_text(said: str) -> None:
    assert tags(f"Said: {text(said)}") == {"p"}


@given(st.text(alphabet=st.sampled_from("ab `|\n<\\"), max_size=30))
def test_code_is_code_whatever_is_in_it(said: str) -> None:
    assert tags(f"Run {code(said)} now") == {"p", "code"}
    (inline,) = (token for token in READER.parse(f"Run {code(said)} now") if token.children)
    assert inline.children
    shown = next(each.content for each in inline.children if each.tag == "code")
    assert shown.strip() == " ".join(said.split()).replace("|", "¦").strip()


@given(st.lists(st.text(alphabet=st.sampled_from("ab `~<"), max_size=20), max_size=5))
def test_a_block_ends_where_it_should(lines: list[str]) -> None:
    (token,) = READER.parse(block(lines, "console"))
    assert token.type == "fence"
    assert token.info == "console"
    assert token.content.rstrip("\n") == "\n".join(lines).rstrip("\n")


def test_nobody_is_notified_and_no_issue_is_mentioned() -> None:
    assert "@ada" not in text("ask @ada, ada@example.com")
    assert "#1" not in text("see #1, shop/cart#2")
    assert text("@a") == "@\u200ba"


def test_no_address_becomes_a_link() -> None:
    for said in ("http://evil.example", "https://evil.example", "www.evil.example"):
        assert said not in text(said)


def test_a_table_holds_its_cells() -> None:
    shown = table(["Name", "Says"], [[code("a|b"), text("c | d\ne")]])

    assert shown == "| Name | Says |\n| --- | --- |\n| `a¦b` | c \\| d e |"
    assert READER.render(shown).count("<td>") == 2


def test_what_is_long_is_cut_off_visibly() -> None:
    assert text("x" * (LONGEST + 1)) == "x" * (LONGEST - 1) + "…"
    assert code("x" * (LONGEST + 1)) == "`" + "x" * (LONGEST - 1) + "…`"


def test_what_is_between_backticks_is_code_and_the_rest_is_text() -> None:
    assert with_code("say `a_b` or `c|d`, *not* all") == "say `a_b` or `c¦d`, \\*not\\* all"
    assert with_code("one ` alone") == "one \\` alone"


def test_blocks_that_do_not_fit_into_a_comment_are_left_out_and_it_says_so() -> None:
    whole = document(["a" * 1_000] * 10)
    cut = document(["a" * 1_000] * 100)

    assert "left out" not in whole
    assert len(cut) <= MOST_CHARACTERS
    assert cut.endswith("the rest is left out: there is more than a comment can hold*\n")

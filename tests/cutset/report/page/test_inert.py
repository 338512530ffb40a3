import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.report.page.inert import inert

LOADS = re.compile(
    r"<(script|link|meta|base|iframe|object|embed|video|audio)\b|\s(src|href|on\w+|srcset)\s*=|url\(", re.I
)


@pytest.mark.parametrize(
    "page",
    [
        '<link rel="stylesheet" href="/shop.css"><h1>Cart</h1>',
        "<script>document.title = '<h1>'</script><h1>Cart</h1>",
        '<img src="https://elsewhere.example/x.png" onerror="alert(1)"><h1>Cart</h1>',
        "<style>@import 'x.css'; h1 { background: url(//elsewhere.example) }</style><h1>Cart</h1>",
        '<h1 style="background:url(x)">Cart</h1>',
        "<iframe srcdoc='<script>1</script>'></iframe><h1>Cart</h1>",
        "<object data=x><embed src=y></object><h1>Cart</h1>",
        '<a href="javascript:alert(1)"><h1>Cart</h1></a>',
        "<SCRIPT/x>alert(1)</SCRIPT><h1>Cart</h1>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript><h1>Cart</h1>",
        "<svg><script>alert(1)</script></svg><h1>Cart</h1>",
    ],
)
def test_what_would_load_or_run_is_gone_and_the_rest_stays(page: str) -> None:
    found = inert(page)

    assert not LOADS.search(found)
    assert "Cart" in found


def test_text_with_entities_and_tags_in_it_stays_as_it_is() -> None:
    assert (
        inert("<p class='total'>a &amp; b &lt;c&gt; &#8364;</p>") == '<p class="total">a &amp; b &lt;c&gt; &#8364;</p>'
    )


def test_what_comes_after_an_element_that_is_never_closed_is_shown() -> None:
    assert inert("<meta charset=utf-8><p>shown</p>") == "<p>shown</p>"


@given(st.text(alphabet="<>/=\"' abscriptonerlhf&;!-", max_size=80))
def test_no_text_however_broken_leaves_a_tag_that_runs(page: str) -> None:
    assert not re.search(r"<(script|link|iframe|object|embed)[\s/>]", inert(page), re.I)

import json
from collections import Counter

import pytest

from cutset.judge.learnt import Usual
from cutset.judge.rules import Baseline, Judgement, baseline_of, judge, sharpened
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response

ANY = Expectation()
PAGE = b'<h1 id="title">Shop</h1><section id="ads"><p class="ad">Buy</p></section>'


def page(body: bytes = PAGE, *, status: int = 200, seconds: float = 0.1) -> Response:
    return Response(status=status, content_type="text/html", body=body, seconds=seconds)


def answer(value: object, *, status: int = 200) -> Response:
    return Response(status=status, content_type="application/json", body=json.dumps(value).encode(), seconds=0.1)


def healthy(*responses: Response, expect: Expectation = ANY) -> Baseline:
    baseline = baseline_of(responses, expect)
    assert isinstance(baseline, Baseline)
    return baseline


def verdict(response: Response, *baseline: Response, expect: Expectation = ANY) -> Judgement:
    judged = judge(response, expect, healthy(*(baseline or (page(),)), expect=expect))
    return Judgement(judged.verdict, judged.reason, late=judged.late)


def test_the_baseline_keeps_what_all_answers_share_and_the_slowest_time():
    baseline = healthy(page(seconds=0.1), page(b'<h1 id="title">Shop</h1><p id="p77">', seconds=0.4))
    assert baseline == Baseline(
        statuses=frozenset({200}),
        seconds=0.4,
        keywords=frozenset(),
        usual=Usual(
            parts=frozenset({"h1#title", "content"}),
            counts={"h1#title": (1,)},
            values=Counter({("h1#title", "Shop"): 1}),
        ),
    )


@pytest.mark.parametrize(
    ("responses", "expect", "reason"),
    [
        ([], ANY, "no baseline: nothing was sent without faults"),
        (
            [page(), page(b"<p>Out of stock</p>", status=500)],
            ANY,
            (
                "unhealthy baseline: 1 of 2 without faults failed: 500 with `Out of stock` "
                "(if that is right, name it in `expect.status`)"
            ),
        ),
        (
            [page(status=302)],
            Expectation(status=(200,)),
            "unhealthy baseline: 1 of 1 without faults failed: 302 with `Shop Buy`",
        ),
        (
            [Response(error="could not connect")],
            ANY,
            "unhealthy baseline: 1 of 1 without faults failed: no answer: could not connect",
        ),
        (
            [page(seconds=11)],
            ANY,
            "unhealthy baseline: 1 of 1 without faults failed: 200 only after 11.0s (limit 10s)",
        ),
    ],
)
def test_an_unhealthy_baseline_is_told_with_its_reason(responses, expect, reason):
    assert baseline_of(responses, expect) == Judgement(Verdict.UNKNOWN, reason)


def test_an_expected_error_status_is_a_healthy_baseline():
    assert healthy(page(status=404), expect=Expectation(status=(404,))).statuses == {404}


def test_the_same_answer_survives():
    assert verdict(page()) == Judgement(Verdict.SURVIVED, "200")


def test_a_redirect_is_an_answer_when_the_baseline_redirects():
    assert verdict(page(b"", status=302), page(b"", status=302)) == Judgement(Verdict.SURVIVED, "302")


def test_a_redirect_is_a_failure_when_the_baseline_does_not_redirect():
    assert verdict(page(b"", status=302)) == Judgement(Verdict.FAILED, "302 with no text")


def test_a_status_within_the_expectation_is_no_failure():
    expect = Expectation(status=(200, 202))
    assert verdict(page(status=202), expect=expect) == Judgement(Verdict.SURVIVED, "202")


def test_a_transport_error_fails():
    judgement = verdict(Response(error="connection\nlost\x1b[31m"))
    assert judgement == Judgement(Verdict.FAILED, "no answer: connection lost[31m")


def test_a_wrong_status_fails_and_quotes_what_the_user_sees():
    body = b"<script>1</script><h1>Sorry</h1>\n\n<p>could\x1b\xe2\x80\xae not `charge`</p>"
    assert verdict(page(body, status=500)) == Judgement(Verdict.FAILED, "500 with `Sorry could not 'charge'`")


def test_a_quotation_is_short():
    reason = verdict(page(b"word " * 1000, status=500)).reason
    assert reason == f"500 with `{'word ' * 23}word…`"


def test_an_answer_beyond_the_limit_fails():
    judgement = verdict(page(seconds=5.25), expect=Expectation(max_seconds=5))
    assert judgement == Judgement(Verdict.FAILED, "200 only after 5.2s (limit 5s, 0.1s without faults)", late=True)


@pytest.mark.parametrize("text", ["Error", "request timed\n out", "Service UNAVAILABLE.", "java.lang.Exception: x"])
def test_a_failure_keyword_in_a_200_fails(text):
    judgement = verdict(page(PAGE + text.encode()))
    assert judgement == Judgement(Verdict.FAILED, f"200, but says `{' '.join(text.split())}`")


def test_the_quotation_surrounds_the_keyword():
    reason = verdict(page(b"before " * 30 + b"an error occurred" + b" after" * 30)).reason
    assert "before an error occurred after" in reason
    assert len(reason) < 150


@pytest.mark.parametrize(
    "harmless", ["terrors", "errors", "error_free", "<p class=error></p>", "<script>error</script>"]
)
def test_a_keyword_counts_only_as_a_whole_word_that_the_user_sees(harmless):
    assert verdict(page(PAGE + harmless.encode())).verdict is Verdict.SURVIVED


def test_a_keyword_of_the_healthy_answer_tells_nothing_but_others_still_do():
    baseline = page(PAGE + b"Terms: no error, no refund")
    assert verdict(page(PAGE + b"Terms: no error, no refund, an error"), baseline).verdict is not Verdict.FAILED
    assert verdict(page(PAGE + b"an exception"), baseline).verdict is Verdict.FAILED


def test_configured_keywords_replace_the_default_ones():
    expect = Expectation(keywords=("Sold Out",))
    assert verdict(page(PAGE + b"an error"), expect=expect).verdict is Verdict.SURVIVED
    assert verdict(page(PAGE + b"sold  out!"), expect=expect).verdict is Verdict.FAILED


def test_a_missing_part_degrades():
    assert verdict(page(b'<h1 id="title">Shop</h1>')) == Judgement(Verdict.DEGRADED, "200, but missing section#ads")


def test_at_most_three_missing_parts_are_named():
    parts = "".join(f'<p class="part{number}">x</p>' for number in range(5)).encode()
    judgement = verdict(page(b"x"), page(parts))
    assert judgement == Judgement(Verdict.DEGRADED, "200, but missing p.part0, p.part1, p.part2 and 2 more")


def test_of_missing_json_only_the_outermost_parts_are_named():
    full = answer({"items": [{"id": "A", "tags": ["x"]}], "ad": {"url": "x"}, "total": 1})
    judgement = verdict(answer({"items": [], "ad": None, "total": 1}), full)
    assert judgement == Judgement(Verdict.DEGRADED, "200, but missing ad: object, items: 1 element")


def test_a_json_document_of_another_kind_is_one_missing_part():
    assert verdict(answer(None), answer([{"id": 1}])).reason == "200, but missing array"


def test_json_that_became_malformed_degrades():
    broken = Response(status=200, content_type="application/json", body=b'{"a": ')
    assert verdict(broken, answer({"a": 1})) == Judgement(Verdict.DEGRADED, "200, but its JSON is malformed")


def test_a_baseline_that_is_malformed_itself_asks_for_nothing():
    broken = Response(status=200, content_type="application/json", body=b"ok")
    assert verdict(broken, broken).verdict is Verdict.SURVIVED


def test_parts_that_only_the_faulty_answer_has_do_not_matter():
    assert verdict(page(PAGE + b'<p id="more">x</p>')).verdict is Verdict.SURVIVED


def test_the_quotation_comes_from_the_main_part_of_a_page():
    body = b"<title>Shop</title><nav>Home Cart</nav><main>The cart is gone</main><footer>2026</footer>"
    assert verdict(page(body, status=500)).reason == "500 with `The cart is gone`"


# Values


ORDER = {"id": "A17", "total": 19.99, "items": [{"sku": "tea", "price": 3}, {"sku": "mug", "price": 5}]}


def test_a_value_that_is_not_what_it_always_is_degrades():
    other = answer(ORDER | {"id": "B4", "total": 0})
    assert verdict(other, answer(ORDER), answer(ORDER | {"id": "C8"})) == Judgement(
        Verdict.DEGRADED, "200, but wrong: `total` was 19.99, is 0"
    )


def test_values_that_vary_without_a_fault_tell_nothing():
    other = answer(ORDER | {"id": "B4"})
    assert verdict(other, answer(ORDER), answer(ORDER | {"id": "C8"})).verdict is Verdict.SURVIVED


def test_a_value_that_varies_later_no_longer_tells():
    baseline = healthy(answer(ORDER))
    other = answer(ORDER | {"id": "B4"})

    assert judge(other, ANY, baseline).verdict is Verdict.DEGRADED
    assert judge(other, ANY, sharpened(baseline, answer(ORDER | {"id": "C8"}))).verdict is Verdict.SURVIVED


def test_the_order_of_a_list_does_not_matter_but_what_is_in_it_does():
    tea, mug = ORDER["items"]
    assert verdict(answer(ORDER | {"items": [mug, tea]}), answer(ORDER)).verdict is Verdict.SURVIVED
    assert verdict(answer(ORDER | {"items": [tea, mug | {"price": 0}]}), answer(ORDER)).reason == (
        "200, but wrong: `items[].price` was 5, is 0"
    )


def test_a_text_that_a_page_always_has_is_missed():
    full = page(b'<p id="total">Total: $19.99</p><p>at 12:05</p>')
    later = page(b'<p id="total">Total: $19.99</p><p>at 12:06</p>')

    assert verdict(page(b'<p id="total">Total: $0</p><p>at 12:07</p>'), full, later) == Judgement(
        Verdict.DEGRADED, "200, but wrong: `p#total` was Total: $19.99, is Total: $0, at 12:07"
    )
    assert verdict(page(b'<p id="total">Total: $19.99</p><p>at 12:07</p>'), full, later).verdict is Verdict.SURVIVED


# What the user expects


@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        (Expectation(json={"total": 19.99, "$.items[].sku": "mug"}), ""),
        (Expectation(json={"total": 20}), "200, but `total` is 19.99, not 20"),
        (Expectation(json={"items[].sku": "pot"}), '200, but `items[].sku` is "tea", "mug", not "pot"'),
        (Expectation(json={"tax": None}), "200, but `tax` is missing, not null"),
        (Expectation(text=("A17", "19.99")), ""),
        (Expectation(text=("thank you",)), "200, but does not say `thank you`"),
    ],
)
def test_an_answer_that_does_not_say_what_is_expected_fails(expect, reason):
    baseline = healthy(answer(ORDER))
    judgement = judge(answer(ORDER), expect, baseline)
    assert judgement == (Judgement(Verdict.FAILED, reason) if reason else Judgement(Verdict.SURVIVED, "200"))


def test_a_baseline_that_does_not_say_what_is_expected_is_not_healthy():
    assert baseline_of([answer(ORDER)], Expectation(json={"total": 20})) == Judgement(
        Verdict.UNKNOWN, "unhealthy baseline: 1 of 1 without faults failed: 200, but `total` is 19.99, not 20"
    )


# Flaky baselines


def test_a_baseline_may_be_as_flaky_as_is_said_and_no_more():
    good, bad = page(), page(status=500)

    assert isinstance(baseline_of([good] * 12 + [bad], ANY, 0.01), Baseline)
    assert isinstance(baseline_of([good] * 11 + [bad] * 2, ANY, 0.01), Judgement)
    assert isinstance(baseline_of([good] * 11 + [bad] * 2, ANY, 0.1), Baseline)
    assert isinstance(baseline_of([bad], ANY, 0.5), Judgement)

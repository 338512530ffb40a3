import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from tests.samples.impacts import CHECKOUT, GIFTS, HOME, IMPACT, Truth, impact_events, impact_started

from cutset.errors import UsageError
from cutset.judge.impact import impact_of
from cutset.model.impact import ApiImpact, ApiVerdict, Impact, Interval
from cutset.report.impact.comparison import ImpactChange, compare, comparison_document, comparison_lines

AFFECTED, RESILIENT, OPEN, INNER = IMPACT.apis


def impact(*apis: ApiImpact, run: str = "now") -> Impact:
    return replace(IMPACT, run=run, apis=apis, guard=None, problems=())


def changes(before: Impact, now: Impact) -> dict[str, ImpactChange]:
    return {str(each.api): each.change for each in compare(before, now).apis}


def sized(low: float, high: float, verdict: ApiVerdict, api: ApiImpact = RESILIENT) -> ApiImpact:
    interval = Interval(low, high)
    return replace(api, verdict=verdict, difference=(low + high) / 2, at_any_time=interval, at_end=None)


def slower(low: float, high: float) -> ApiImpact:
    return replace(RESILIENT, slower=Interval(low, high))


HARMLESS = sized(-0.01, 0.01, ApiVerdict.RESILIENT)
HARMFUL = sized(0.2, 0.4, ApiVerdict.AFFECTED)
UNKNOWN = sized(-0.2, 0.3, ApiVerdict.CANNOT_TELL)


@pytest.mark.parametrize(
    ("before", "now", "change", "code"),
    [
        (HARMLESS, sized(0.2, 0.4, ApiVerdict.AFFECTED), ImpactChange.WORSE, 1),
        (HARMFUL, HARMLESS, ImpactChange.BETTER, 0),
        (HARMFUL, sized(0.3, 0.5, ApiVerdict.AFFECTED), ImpactChange.SAME, 0),
        (HARMLESS, sized(0.001, 0.3, ApiVerdict.AFFECTED), ImpactChange.CANNOT_TELL, 3),
        (HARMLESS, UNKNOWN, ImpactChange.CANNOT_TELL, 3),
        (UNKNOWN, HARMLESS, ImpactChange.SAME, 0),
        (RESILIENT, replace(RESILIENT, still_off=True), ImpactChange.WORSE, 1),
        (replace(RESILIENT, still_off=True), RESILIENT, ImpactChange.BETTER, 0),
        (slower(0.0, 0.1), slower(0.2, float("inf")), ImpactChange.WORSE, 1),
        (slower(0.2, 0.3), slower(0.0, 0.1), ImpactChange.BETTER, 0),
    ],
)
def test_only_what_both_intervals_show_is_called_worse_or_better(
    before: ApiImpact, now: ApiImpact, change: ImpactChange, code: int
) -> None:
    comparison = compare(impact(before), impact(now))

    assert [each.change for each in comparison.apis] == [change]
    assert comparison.exit_code == code


def test_an_api_that_is_new_is_worse_only_if_it_is_affected_and_one_may_go() -> None:
    found = changes(impact(INNER), impact(AFFECTED, RESILIENT, OPEN))

    assert found == {
        str(CHECKOUT): ImpactChange.WORSE,
        str(GIFTS): ImpactChange.CANNOT_TELL,
        str(HOME): ImpactChange.SAME,
        "checkout/PlaceOrder": ImpactChange.GONE,
    }
    assert list(found.values()) == [ImpactChange.WORSE, ImpactChange.CANNOT_TELL, ImpactChange.SAME, ImpactChange.GONE]


bounds = st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted)


@given(bounds, bounds, st.floats(0, 1), st.floats(0, 1))
def test_the_interval_covers_the_change_whenever_both_intervals_cover_their_truth(
    before: list[float], now: list[float], there: float, here: float
) -> None:
    truth_before = before[0] + there * (before[1] - before[0])
    truth_now = now[0] + here * (now[1] - now[0])
    earlier, later = (impact(sized(low, high, ApiVerdict.AFFECTED)) for low, high in (before, now))
    [change] = compare(earlier, later).apis

    assert change.interval is not None
    assert change.interval.low - 1e-9 <= truth_now - truth_before <= change.interval.high + 1e-9


def test_a_system_that_fails_more_in_general_is_not_worse_and_one_that_lost_its_fallback_is() -> None:
    usual, flaky, worse = (
        impact_of(impact_events(truth, seed=seed))
        for seed, truth in enumerate((Truth(), Truth(flaky=0.03), Truth(rate=0.9)))
    )

    assert not compare(usual, flaky).worse
    assert changes(usual, worse)[str(CHECKOUT)] is ImpactChange.WORSE


def test_different_faults_are_not_compared() -> None:
    other = replace(IMPACT, run="other", started=impact_started("ad/GetAds:abort(503),30%"))

    with pytest.raises(UsageError, match="`other` injected ad/GetAds"):
        compare(other, IMPACT)


def test_a_comparison_is_told_with_sizes_reasons_and_what_else_differs() -> None:
    before = impact(sized(-0.01, 0.01, ApiVerdict.RESILIENT, AFFECTED), OPEN, run="earlier")
    comparison = compare(before, replace(impact(AFFECTED, OPEN), problems=("few spans",)))

    assert [Text.from_markup(line).plain for line in comparison_lines(comparison)] == [
        "Against earlier",
        (
            "  ✗ worse        frontend/POST /cart/checkout  +29.9 points [+19.9, +39.8]  fails more by the fault than "
            "before; resilient before, affected now"
        ),
        (
            "  ? cannot tell  frontend/GET /gifts  0 points [−26.8, +26.8]  cannot tell before, cannot tell now, "
            "but both may be equal; about 640 more requests in each group would tell"
        ),
        "  ! now: few spans",
        "1 API worse",
    ]
    document = json.loads(json.dumps(comparison_document(comparison), allow_nan=False))
    assert (document["against"], document["worse"]) == ("earlier", True)
    assert document["apis"][0]["interval"] == [0.19912, 0.3984]

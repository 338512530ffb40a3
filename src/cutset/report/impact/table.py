"""The table of APIs on the page of an impact: rates by group, and each difference with its interval on one scale."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import htpy as h

from cutset.model.impact import ApiImpact, ApiVerdict, Impact, Interval
from cutset.report.impact.wording import (
    attempts_in_words,
    confidence_in_words,
    difference_in_words,
    interval_of,
    is_amplified,
    p95_in_words,
    rate_in_words,
)
from cutset.report.page.components import bounded, code, css_class, verdict

ROOM_FOR_A_LABEL = 20  # percent of the scale
_KEYS = (("dot", "measured"), ("whisker", "interval"), ("margin", "resilient: the interval ends in here"))


@dataclass(frozen=True, slots=True)
class _Scale:
    """Of differences: as wide as decided APIs and the margin need; undecided ones may leave it."""

    low: float
    high: float

    def percent(self, at: float) -> float:
        return 100 * (min(self.high, max(self.low, at)) - self.low) / (self.high - self.low)


def api_table(impact: Impact) -> h.Node:
    margin, scale = impact.started.margin, _scale(impact)
    caption = "Upstream APIs: success rates by group, and how many more requests fail with the fault"
    return [
        h.div(".scroll", tabindex="0", role="region", aria_label="Upstream APIs")[
            h.table(".apis")[
                h.caption(".visually-hidden")[caption],
                h.thead[_heads(scale)],
                h.tbody[
                    (_api_rows(api, margin, scale) for api in impact.apis),
                    (_api_rows(api, margin, scale, is_target=True) for api in impact.target),
                ],
            ]
        ],
        h.p(".legend.small.muted")[(h.span(".key")[h.i(class_=kind), f" {words}"] for kind, words in _KEYS)],
        h.p(".small.muted")[
            "Success rates by group, p95 and attempts from control to fault; ∞: that many failed. ",
            f"{confidence_in_words(impact)}.",
        ],
    ]


def _heads(scale: _Scale) -> h.Element:
    return h.tr[
        h.th(scope="col")["API"],
        (h.th(".number", scope="col")[name] for name in ("before", "control", "fault")),
        h.th(scope="col")["more failures, points", h.div(".spread.axis", aria_hidden="true")[_axis(scale)]],
        (h.th(".number", scope="col")[name] for name in ("p95", "attempts")),
    ]


def _api_rows(api: ApiImpact, margin: float, scale: _Scale, *, is_target: bool = False) -> Iterator[h.Element]:
    kind = "faulted" if is_target else css_class(api.verdict)
    said = verdict("faulted", "the fault is here") if is_target else verdict(api.verdict, api.verdict)
    rates = [
        (name, rate_in_words(sample.success_rate) if sample.requests else "–", sample.requests)
        for name, sample in (("before", api.before), ("control", api.control), ("fault", api.fault))
    ]
    more = is_amplified(api) and h.b(".up", title="more than in the control")[" ▲"]
    yield h.tr(class_=kind)[
        h.th(".api", scope="row")[code(str(api.api)), api.is_entry and [" ", h.span(".tag")["entry"]], h.div[said]],
        (
            h.td(".number", data_name=name)[rate, h.div(".small.muted")[f"of {requests:,}"]]
            for name, rate, requests in rates
        ),
        h.td(".difference")[_bar(api, margin, scale), h.div(".small.muted")[difference_in_words(api)]],
        h.td(".number", data_name="p95")[p95_in_words(api)],
        h.td(".number", data_name="attempts")[attempts_in_words(api), more],
    ]
    yield h.tr(class_=["why", kind])[h.td(".small.muted", colspan="7")[bounded(api.reason)]]


def _scale(impact: Impact) -> _Scale:
    margin = impact.started.margin
    decided = [interval_of(api) for api in impact.apis if api.verdict is not ApiVerdict.CANNOT_TELL]
    measured = [api.difference for api in (*impact.apis, *impact.target) if api.fault.requests and api.control.requests]
    least = min([-1.5 * margin, *measured, *(each.low for each in decided)])
    most = max([2.5 * margin, *measured, *(each.high for each in decided)])
    return _Scale(max(-1.0, floor(least * 50) / 50), min(1.0, ceil(most * 50) / 50))


def _axis(scale: _Scale) -> Iterator[h.Element]:
    ticks = [(0.0, "middle"), (scale.high, "right")]
    if scale.percent(0) > ROOM_FOR_A_LABEL:
        ticks.append((scale.low, "left"))
    for at, kind in ticks:
        yield h.span(class_=kind, style=f"left:{scale.percent(at):.2f}%")[_points(at)]


def _points(at: float) -> str:
    return f"{100 * at:+.0f}".replace("-", "−") if at else "0"


def _bar(api: ApiImpact, margin: float, scale: _Scale) -> h.Element:
    return h.div(".spread", aria_hidden="true")[_marks(api, margin, scale)]


def _marks(api: ApiImpact, margin: float, scale: _Scale) -> Iterator[h.Element]:
    interval = interval_of(api)
    yield h.i(".margin", style=f"left:0;width:{scale.percent(margin):.2f}%")
    yield h.i(".zero", style=f"left:{scale.percent(0):.2f}%")
    if interval != Interval(-1.0, 1.0):
        low, high = scale.percent(interval.low), scale.percent(interval.high)
        beyond = {"beyond-low": interval.low < scale.low, "beyond-high": interval.high > scale.high}
        yield h.i(class_=["whisker", beyond], style=f"left:{low:.2f}%;width:{high - low:.2f}%")
    if api.fault.requests and api.control.requests:
        yield h.i(".dot", style=f"left:{scale.percent(api.difference):.2f}%")

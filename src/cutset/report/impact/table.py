"""The table of APIs on the page of an impact: rates by group, and each difference with its interval on one scale."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

from cutset.model.impact import ApiImpact, ApiVerdict, Impact, Interval
from cutset.report.drawing.text import escaped
from cutset.report.impact.wording import (
    SIGNS,
    attempts_in_words,
    confidence_in_words,
    difference_in_words,
    interval_of,
    is_amplified,
    p95_in_words,
    rate_in_words,
)

ROOM_FOR_A_LABEL = 20  # percent of the scale


@dataclass(frozen=True, slots=True)
class _Scale:
    """Of differences: as wide as decided APIs and the margin need; undecided ones may leave it."""

    low: float
    high: float

    def percent(self, at: float) -> float:
        return 100 * (min(self.high, max(self.low, at)) - self.low) / (self.high - self.low)


def api_table(impact: Impact) -> Iterator[str]:
    margin, scale = impact.started.margin, _scale(impact)
    yield '<table class="apis"><thead><tr><th>API</th><th class="n">before</th><th class="n">control</th>'
    yield f'<th class="n">fault</th><th>more failures, points <div class="scale axis">{_axis(scale)}</div></th>'
    yield '<th class="n">p95</th><th class="n">attempts</th></tr></thead><tbody>'
    for api in impact.apis:
        yield from _api_row(api, margin, scale)
    for api in impact.target:
        yield from _api_row(api, margin, scale, is_target=True)
    yield "</tbody></table>"
    legend = '<span class="key"><i class="dot"></i> measured</span> <span class="key"><i class="whisker"></i> interval'
    legend += '</span> <span class="key"><i class="margin"></i> resilient: the interval ends in here</span>'
    yield f'<p class="muted legend">{legend}</p>'
    yield '<p class="muted">Success rates by group, p95 and attempts from control to fault; ∞: that many failed. '
    yield f"{escaped(confidence_in_words(impact))}.</p>"


def _api_row(api: ApiImpact, margin: float, scale: _Scale, *, is_target: bool = False) -> Iterator[str]:
    sign, word = ("↯", "the fault is here") if is_target else (SIGNS[api.verdict], api.verdict)
    kind = "target" if is_target else css_class(api.verdict)
    entry = ' <span class="tag">entry</span>' if api.is_entry else ""
    yield f'<tr class="{kind}"><td class="api"><b class="sign">{sign}</b> <code>{escaped(str(api.api))}</code>{entry}'
    yield f'<div class="small word">{word}</div></td>'
    for name, sample in (("before", api.before), ("control", api.control), ("fault", api.fault)):
        rate = rate_in_words(sample.success_rate) if sample.requests else "–"
        yield f'<td class="n" data-name="{name}">{rate}<div class="small">of {sample.requests:,}</div></td>'
    yield f'<td class="difference">{_bar(api, margin, scale)}'
    yield f'<div class="small">{escaped(difference_in_words(api))}</div></td>'
    yield f'<td class="n" data-name="p95">{p95_in_words(api)}</td>'
    more = ' <b class="up" title="more than in the control">▲</b>' if is_amplified(api) else ""
    yield f'<td class="n" data-name="attempts">{attempts_in_words(api)}{more}</td></tr>'
    yield f'<tr class="why {kind}"><td colspan="7" class="small">{escaped(api.reason)}</td></tr>'


def _scale(impact: Impact) -> _Scale:
    margin = impact.started.margin
    decided = [interval_of(api) for api in impact.apis if api.verdict is not ApiVerdict.CANNOT_TELL]
    measured = [api.difference for api in (*impact.apis, *impact.target) if api.fault.requests and api.control.requests]
    least = min([-1.5 * margin, *measured, *(each.low for each in decided)])
    most = max([2.5 * margin, *measured, *(each.high for each in decided)])
    return _Scale(max(-1.0, floor(least * 50) / 50), min(1.0, ceil(most * 50) / 50))


def _axis(scale: _Scale) -> str:
    ticks = [(0.0, "middle"), (scale.high, "right")]
    if scale.percent(0) > ROOM_FOR_A_LABEL:
        ticks.append((scale.low, "left"))
    return "".join(
        f'<span class="{kind}" style="left:{scale.percent(at):.2f}%">{_points(at)}</span>' for at, kind in ticks
    )


def _points(at: float) -> str:
    return f"{100 * at:+.0f}".replace("-", "−") if at else "0"


def _bar(api: ApiImpact, margin: float, scale: _Scale) -> str:
    interval, zero = interval_of(api), scale.percent(0)
    parts = [
        f'<i class="margin" style="left:0;width:{scale.percent(margin):.2f}%"></i>',
        f'<i class="zero" style="left:{zero:.2f}%"></i>',
    ]
    if interval != Interval(-1.0, 1.0):
        low, high = scale.percent(interval.low), scale.percent(interval.high)
        beyond = " beyond-low" * (interval.low < scale.low) + " beyond-high" * (interval.high > scale.high)
        parts.append(f'<i class="whisker{beyond}" style="left:{low:.2f}%;width:{high - low:.2f}%"></i>')
    if api.fault.requests and api.control.requests:
        parts.append(f'<i class="dot" style="left:{scale.percent(api.difference):.2f}%"></i>')
    return f'<div class="scale">{"".join(parts)}</div>'


def css_class(verdict: ApiVerdict) -> str:
    return verdict.replace(" ", "-")

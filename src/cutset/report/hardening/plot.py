"""Coverage over budget as a picture (SVG): what each further unit of budget buys, and from where on it buys little.

A standalone picture without scripts, on light and on dark ground. What its two marks mean stands above the curve, where
nothing can be in the way. In the dashboard, the mark of the budget is what one drags.
"""

from collections.abc import Iterator
from math import floor, log10

from cutset.harden.frontier import Frontier, FrontierPoint

WIDTH, HEIGHT = 640, 372
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 88, 64
SHARES = (0, 0.25, 0.5, 0.75, 1)
MOST_TICKS = 8  # of budgets on the axis: more would overlap where letters are large
MOST_DOTS = 60  # points that are told apart; of more, the curve alone is drawn

# Letters are larger where the picture is made small.
_STYLE = """<style>
.frontier{font:13px system-ui,sans-serif;--ground:#fff;--ink:#1c2430;--muted:#566173;--line:#e3e8ee;--curve:#0b57c9;
--knee:#8a5a00}
@media (prefers-color-scheme:dark){.frontier{--ground:#0d1117;--ink:#e6edf3;--muted:#9aa6b5;--line:#232c38;
--curve:#6cb0ff;--knee:#dfac45}}
@media (max-width:600px){.frontier{font-size:17px}}
.frontier .ground{fill:var(--ground)}.frontier text{fill:var(--muted)}.frontier .told{fill:var(--ink)}
.frontier .grid{stroke:var(--line)}.frontier .axis{stroke:var(--muted)}
.frontier .curve{fill:none;stroke:var(--curve);stroke-width:2.5;stroke-linejoin:round}
.frontier .below{fill:var(--curve);fill-opacity:.09}.frontier .dot{fill:var(--curve)}
.frontier .knee{fill:var(--ground);stroke:var(--knee);stroke-width:2.5}
.frontier .budget{fill:var(--curve);stroke:var(--ground);stroke-width:2}
.frontier .drop{stroke:var(--curve);stroke-dasharray:4 4}
</style>"""


def frontier_svg(frontier: Frontier, *, budget: float) -> str:
    """With the given budget and the point of diminishing returns marked."""
    reached, knee = _reached(frontier, budget), frontier.points[frontier.knee]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    labels = 'aria-labelledby="frontier-title frontier-told"'
    told = f"{_told_of_budget(reached, budget)}. {_told_of_knee(knee)}."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="frontier" role="img" {labels}>',
            '<title id="frontier-title">Share of cuts that are gone, by budget</title>',
            f'<desc id="frontier-told">{told}</desc>',
            _STYLE,
            '<rect class="ground" width="100%" height="100%"/>',
            *_axes(frontier, budget),
            *_curve(frontier, budget),
            *_marks(frontier, budget, reached),
            "</svg>\n",
        ]
    )


def place_of(frontier: Frontier, budget: float, coverage: float, *, given: float = 0.0) -> tuple[float, float]:
    """Where a budget and what it covers are in the picture that was drawn for the `given` budget."""
    widest = max(frontier.points[-1].budget, given, 1.0)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return round(LEFT + across * budget / widest, 1), round(TOP + up * (1 - coverage), 1)


def _reached(frontier: Frontier, budget: float) -> FrontierPoint:
    """A budget below the least one buys nothing that is on the curve."""
    return frontier.points[frontier.at(max(budget, frontier.points[0].budget))]


def _told_of_budget(reached: FrontierPoint, budget: float) -> str:
    return f"Budget {budget:g}: {_share(reached.coverage)} gone"


def _told_of_knee(knee: FrontierPoint) -> str:
    return f"From {knee.budget:g} on ({_share(knee.coverage)}) returns diminish"


def _share(coverage: float) -> str:
    return f"{coverage:.0%}"


def _axes(frontier: Frontier, budget: float) -> Iterator[str]:
    left, bottom = place_of(frontier, 0, 0, given=budget)
    for share in SHARES:
        _, y = place_of(frontier, 0, share, given=budget)
        yield f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{left - 10}" y="{y}" dy=".35em" text-anchor="end">{_share(share)}</text>'
    widest = max(frontier.points[-1].budget, budget, 1.0)
    for tick in _ticks(widest):
        x, _ = place_of(frontier, tick, 0, given=budget)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>'
        yield f'<text x="{x}" y="{bottom + 22}" text-anchor="middle">{tick:g}</text>'
    yield f'<line class="axis" x1="{left}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:g}" y="{HEIGHT - 12}" text-anchor="middle">budget</text>'
    across = (TOP + bottom) / 2
    yield f'<text x="18" y="{across:g}" text-anchor="middle" transform="rotate(-90 18 {across:g})">cuts gone</text>'


def _ticks(widest: float) -> Iterator[float]:
    """Round numbers from 0 on, far enough apart."""
    rough = widest / MOST_TICKS
    unit: float = 10.0 ** floor(log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
    step = max(step, 1.0) if widest >= 4 else step  # budgets are mostly whole
    number = 0
    while number * step <= widest * (1 + 1e-9):
        yield round(number * step, 9)
        number += 1


def _curve(frontier: Frontier, budget: float) -> Iterator[str]:
    """Steps: a budget between two points buys what the lower one does."""
    places = [place_of(frontier, point.budget, point.coverage, given=budget) for point in frontier.points]
    (x, y), (_, bottom) = places[0], place_of(frontier, 0, 0, given=budget)
    steps = f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in places[1:])
    widest, _ = place_of(frontier, max(frontier.points[-1].budget, budget, 1.0), 0, given=budget)
    steps += f"H{widest}"
    yield f'<path class="below" d="{steps}V{bottom}H{x}Z"/><path class="curve" d="{steps}"/>'
    if len(places) <= MOST_DOTS:
        yield from (f'<circle class="dot" cx="{x}" cy="{y}" r="3"/>' for x, y in places)


def _marks(frontier: Frontier, budget: float, reached: FrontierPoint) -> Iterator[str]:
    """A diamond where returns diminish, a disc at the budget, and above both what they mean."""
    knee = frontier.points[frontier.knee]
    x, y = place_of(frontier, knee.budget, knee.coverage, given=budget)
    yield f'<path class="knee" d="{_DIAMOND}" transform="translate({x} {y})"/>'
    x, y = place_of(frontier, max(budget, frontier.points[0].budget), reached.coverage, given=budget)
    _, bottom = place_of(frontier, 0, 0, given=budget)
    yield f'<g class="handle" transform="translate({x} {y})"><line class="drop" y2="{round(bottom - y, 1)}"/>'
    yield '<circle class="budget" r="8"/></g>'
    yield f'<circle class="budget" cx="{LEFT}" cy="24" r="7"/>'
    yield f'<text class="told of-budget" x="{LEFT + 18}" y="24" dy=".35em">{_told_of_budget(reached, budget)}</text>'
    yield f'<path class="knee" d="{_DIAMOND}" transform="translate({LEFT} 54)"/>'
    yield f'<text class="told" x="{LEFT + 18}" y="54" dy=".35em">{_told_of_knee(knee)}</text>'


_DIAMOND = "M0-9 9 0 0 9-9 0Z"

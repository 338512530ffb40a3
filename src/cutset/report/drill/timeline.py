"""The picture of one drill: answers and their latency over the three phases, with the fault window shaded.

A standalone SVG without scripts. Above, how many answers of each moment were good; below, how long each took, on a
logarithmic scale, good ones as dots, others as crosses; below these, a mark for each request that the fault hit.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from cutset.model.drill import Phase, TimelinePoint

WIDTH, LEFT, RIGHT = 900.0, 84.0, 18.0
TOP, RATE_HEIGHT, GAP, LATENCY_HEIGHT, FIRED_HEIGHT, BOTTOM = 34.0, 84.0, 26.0, 124.0, 24.0, 34.0
MOMENTS = 60  # columns of the upper part
FASTEST, SLOWEST = 1e-3, 1.0  # seconds: the scale of latencies has at least these

_STYLE = """<style>
.drill{font:12px system-ui,sans-serif;--ground:#fff;--ink:#1c2430;--muted:#667085;--line:#d5dbe3;--good:#1a7f37;
--bad:#d92d20;--window:#fdecea;--fired:#c2410c}
@media (prefers-color-scheme:dark){.drill{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#2b3442;--good:#4ac26b;
--bad:#ff6b60;--window:#3a1715;--fired:#fb923c}}
.drill .ground{fill:var(--ground)}.drill text{fill:var(--muted)}.drill .name{fill:var(--ink);font-weight:600}
.drill .window{fill:var(--window)}.drill .grid{stroke:var(--line)}.drill .good{fill:var(--good)}
.drill .bad{fill:var(--bad)}.drill .cross{stroke:var(--bad);stroke-width:1.6;fill:none}
.drill .dot{fill:var(--good);fill-opacity:.75}.drill .fired{stroke:var(--fired);stroke-width:1.4}
</style>"""


def draw_timeline(points: Sequence[TimelinePoint], *, title: str) -> str:
    height = TOP + RATE_HEIGHT + GAP + LATENCY_HEIGHT + FIRED_HEIGHT + BOTTOM
    end = max((point.at + point.seconds for point in points), default=1.0) or 1.0
    size = f'width="{WIDTH:.0f}" height="{height:.0f}" viewBox="0 0 {WIDTH:.0f} {height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="drill" role="img">',
            f"<title>{escape(title)}</title>{_STYLE}",
            '<rect class="ground" width="100%" height="100%"/>',
            *_windows(points, end, height),
            *_rates(points, end),
            *_latencies(points, end),
            *_times(end, height),
            "</svg>\n",
        ]
    )


def _across(at: float, end: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / end


def phase_spans(points: Sequence[TimelinePoint], end: float) -> list[tuple[Phase, float, float]]:
    """Where each phase begins and ends: with its first request, and that of the next phase."""
    starts = [
        (phase, min(point.at for point in points if point.phase is phase))
        for phase in Phase
        if any(point.phase is phase for point in points)
    ]
    ends = [start for _, start in starts[1:]] + [end]
    return [(phase, start, finish) for (phase, start), finish in zip(starts, ends, strict=True)]


def _windows(points: Sequence[TimelinePoint], end: float, height: float) -> Iterator[str]:
    for phase, start, finish in phase_spans(points, end):
        left, right = _across(start, end), _across(finish, end)
        if phase is Phase.FAULT:
            tall = height - TOP - BOTTOM
            yield f'<rect class="window" x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{tall}"/>'
        yield f'<text class="name" x="{(left + right) / 2:.1f}" y="{TOP - 12}" text-anchor="middle">{phase}</text>'


def _rates(points: Sequence[TimelinePoint], end: float) -> Iterator[str]:
    base = TOP + RATE_HEIGHT
    yield from _label(TOP + 8, "answers")
    for share in (0, 50, 100):
        y = base - (RATE_HEIGHT - 6) * share / 100
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share} %</text>'
    columns: list[list[bool]] = [[] for _ in range(MOMENTS)]
    for point in points:
        columns[min(MOMENTS - 1, int(MOMENTS * point.at / end))].append(point.ok)
    width = (WIDTH - LEFT - RIGHT) / MOMENTS
    for number, answers in enumerate(columns):
        if not answers:
            continue
        x, good = LEFT + number * width + 1, (RATE_HEIGHT - 6) * sum(answers) / len(answers)
        bad = RATE_HEIGHT - 6 - good
        yield f"<g><title>{sum(answers)} of {len(answers)} good</title>"
        for kind, y, tall in (("good", base - good, good), ("bad", base - good - bad, bad)):
            yield f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{tall:.1f}"/>'
        yield "</g>"


def _latencies(points: Sequence[TimelinePoint], end: float) -> Iterator[str]:
    top = TOP + RATE_HEIGHT + GAP
    base = top + LATENCY_HEIGHT
    low = floor(log10(min([FASTEST * 10, *(max(point.seconds, FASTEST) for point in points)])))
    high = ceil(log10(max([SLOWEST, *(point.seconds for point in points)])))

    def up(seconds: float) -> float:
        return base - LATENCY_HEIGHT * (log10(max(seconds, 10**low)) - low) / (high - low)

    yield from _label(top + 8, "latency")
    for power in range(low, high + 1):
        y = up(10.0**power)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_seconds(10.0**power)}</text>'
    for point in points:
        x, y = _across(point.at, end), up(point.seconds)
        if point.ok:
            yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>'
        else:
            yield f'<path class="cross" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6"/>'
        if point.fired:
            yield f'<line class="fired" x1="{x:.1f}" x2="{x:.1f}" y1="{base + 11}" y2="{base + FIRED_HEIGHT - 1}"/>'
    yield f'<text x="{LEFT - 6}" y="{base + FIRED_HEIGHT - 2}" text-anchor="end">fired</text>'


def _label(y: float, text: str) -> Iterator[str]:
    """Beside the scale, turned round."""
    yield f'<text transform="translate(16 {y + 44:.1f}) rotate(-90)" text-anchor="middle">{text}</text>'


def _times(end: float, height: float) -> Iterator[str]:
    step = max(1, round(end / 12))
    for second in range(0, int(end) + 1, step):
        yield f'<text x="{_across(second, end):.1f}" y="{height - 14}" text-anchor="middle">{second} s</text>'


def _seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{1000 * value:g} ms"

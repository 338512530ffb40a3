"""The picture of one API over the windows of an impact: how many answers were good, and how long these took, by group.

A standalone SVG without scripts. Groups differ by dashes and markers, not by colour alone. A column is as many seconds
wide as it takes to have some requests of each group in it; under the pointer it tells its numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cutset.judge.shares import quantile
from cutset.model.impact import Group, ImpactWindow
from cutset.report.drawing.text import escaped, shortened
from cutset.report.impact.columns import STEPS, Column, ImpactTimeline
from cutset.report.impact.wording import seconds_in_words, shares_in_words

WIDTH, LEFT, RIGHT = 900.0, 82.0, 20.0
TOP, RATE_HEIGHT, GAP, LATENCY_HEIGHT, BOTTOM = 62.0, 118.0, 30.0, 84.0, 34.0
HEIGHT = TOP + RATE_HEIGHT + GAP + LATENCY_HEIGHT + BOTTOM
TITLE_LETTERS = 90
ENOUGH_LATENCIES = 5  # good answers in a column, for its quantiles to be drawn
RATES = (0.999, 0.99, 0.98, 0.95, 0.9, 0.8, 0.5, 0.0)  # where the scale of rates may begin
DRAWN = (Group.OTHERS, Group.CONTROL, Group.FAULT)  # the most important last, above the others
NAMES = {Group.FAULT: "with the fault", Group.CONTROL: "control", Group.OTHERS: "unmarked"}

_STYLE = """<style>
.impact-timeline{font:12px system-ui,sans-serif;--ground:#fff;--ink:#1c2430;--muted:#5d6878;--line:#e3e8ee;
--fault:#d92d20;--control:#1f6feb;--others:#7a8696;--window:#fdf1ef;--hatch:#f6d5d1;--guard:#9a6700}
@media (prefers-color-scheme:dark){.impact-timeline{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#232c38;
--fault:#ff6b60;--control:#58a6ff;--others:#8592a3;--window:#22161a;--hatch:#3d1f21;--guard:#d8a33a}}
.impact-timeline .ground{fill:var(--ground)}.impact-timeline text{fill:var(--muted)}
.impact-timeline .name{fill:var(--ink);font-weight:600}.impact-timeline .api{font-size:14px}
.impact-timeline .window{fill:var(--window)}.impact-timeline .hatch{stroke:var(--hatch);stroke-width:1.5}
.impact-timeline .grid{stroke:var(--line)}.impact-timeline .edge{stroke:var(--muted);stroke-dasharray:2 3}
.impact-timeline .guard{stroke:var(--guard);stroke-width:2;stroke-dasharray:6 3}
.impact-timeline text.guard{fill:var(--guard);stroke:none;font-weight:600}
.impact-timeline .fault{color:var(--fault)}.impact-timeline .control{color:var(--control)}
.impact-timeline .others{color:var(--others)}
.impact-timeline .path{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.impact-timeline .control .path{stroke-dasharray:6 3}.impact-timeline .others .path{stroke-dasharray:1.5 3}
.impact-timeline .thin{stroke-width:1.1}.impact-timeline .mark{fill:currentColor}
.impact-timeline .control .mark{fill:var(--ground);stroke:currentColor;stroke-width:1.6}
.impact-timeline .band{fill:currentColor;fill-opacity:.11}
.impact-timeline .hit{fill:transparent}.impact-timeline .hit:hover{fill:var(--muted);fill-opacity:.13}
</style>"""
_HATCH = (
    '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="hatch" y2="7"/></pattern></defs>'
)


def draw_impact_timeline(timeline: ImpactTimeline) -> str:
    size = f'viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"'
    name = escaped(shortened(str(timeline.api), TITLE_LETTERS))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="impact-timeline" role="img">',
            f"<title>{name}: success rate and latency over time</title>{_STYLE}",
            _HATCH,
            '<rect class="ground" width="100%" height="100%"/>',
            f'<text class="name api" x="{LEFT}" y="20">{name}</text>',
            *_legend(timeline),
            *_shades(timeline),
            *_rates(timeline),
            *_latencies(timeline),
            *_times(timeline),
            *_guard(timeline),
            *_columns(timeline),
            "</svg>\n",
        ]
    )


def _across(timeline: ImpactTimeline, at: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, at / timeline.end))


def _middle(timeline: ImpactTimeline, number: int) -> float:
    return _across(timeline, (timeline.edges[number] + timeline.edges[number + 1]) / 2)


def _legend(timeline: ImpactTimeline) -> Iterator[str]:
    x = WIDTH - RIGHT
    for group in DRAWN:
        if timeline.columns[group]:
            x -= 6.4 * len(NAMES[group])
            yield f'<g class="{group}"><text x="{x:.0f}" y="20">{NAMES[group]}</text>'
            yield f'<path class="path" d="M{x - 36:.0f} 16h28"/>{_marker(group, x - 22, 16)}</g>'
            x -= 54


def _shades(timeline: ImpactTimeline) -> Iterator[str]:
    tall = HEIGHT - TOP - BOTTOM + 22
    for span in timeline.windows:
        left, right = _across(timeline, span.start), _across(timeline, span.end)
        if right <= left:
            continue
        during = span.window is ImpactWindow.DURING
        label = f"{span.window} · {shares_in_words((span.share,))}" if during else span.window
        if during:
            place = f'x="{left:.1f}" y="{TOP - 22}" width="{right - left:.1f}" height="{tall}"'
            yield f'<rect class="window" {place}/><rect fill="url(#hatch)" {place}/>'
        if right - left > 6 * len(label):
            yield (
                f'<text class="name" x="{(left + right) / 2:.1f}" y="{TOP - 8}" text-anchor="middle">{label}</text>'
                f'<line class="edge" x1="{left:.1f}" x2="{left:.1f}" y1="{TOP - 22}" y2="{TOP - 22 + tall}"/>'
            )


def _rates(timeline: ImpactTimeline) -> Iterator[str]:
    lowest = min((column.rate for each in timeline.columns.values() for column in each.values()), default=1.0)
    low = next(rate for rate in RATES if rate <= lowest)
    base = TOP + RATE_HEIGHT

    def up(rate: float) -> float:
        return base - (RATE_HEIGHT - 8) * (rate - low) / (1 - low)

    yield from _axis(
        "good answers", TOP + RATE_HEIGHT / 2, [(up(rate), f"{100 * rate:.6g} %") for rate in (low, (1 + low) / 2, 1.0)]
    )
    for group in DRAWN:
        columns = timeline.columns[group]
        yield f'<g class="{group}">'
        for run in _runs(columns):
            places = [(_middle(timeline, number), up(columns[number].rate)) for number in run]
            yield _path(places)
            yield from (_marker(group, x, y) for x, y in places)
        yield "</g>"


def _latencies(timeline: ImpactTimeline) -> Iterator[str]:
    quantiles = {
        group: {
            number: (quantile(column.seconds, 0.5), quantile(column.seconds, 0.95))
            for number, column in timeline.columns[group].items()
            if len(column.seconds) >= ENOUGH_LATENCIES
        }
        for group in (Group.CONTROL, Group.FAULT)
    }
    most = max((p95 for each in quantiles.values() for _, p95 in each.values()), default=0.0)
    if not most:
        return
    top = TOP + RATE_HEIGHT + GAP
    ceiling = _ceiling(most)

    def up(seconds: float) -> float:
        return top + LATENCY_HEIGHT - (LATENCY_HEIGHT - 8) * seconds / ceiling

    ticks = [(up(each), seconds_in_words(each)) for each in (0.0, ceiling / 2, ceiling)]
    yield from _axis("p50 to p95", top + LATENCY_HEIGHT / 2, ticks)
    for group, by_column in quantiles.items():
        yield f'<g class="{group}">'
        for run in _runs(by_column):
            slow = [(_middle(timeline, number), up(by_column[number][1])) for number in run]
            usual = [(_middle(timeline, number), up(by_column[number][0])) for number in run]
            outline = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*slow, *reversed(usual)])
            yield f'<path class="band" d="M{outline}Z"/>{_path(slow)}{_path(usual, "path thin")}'
        yield "</g>"


def _ceiling(most: float) -> float:
    """A round number of seconds that is not much more."""
    size = 1e-4
    while size * 10 <= most:
        size *= 10
    return next(size * factor for factor in (1, 2, 3, 4, 5, 6, 8, 10) if size * factor >= most * 0.999)


def _axis(title: str, middle: float, ticks: Sequence[tuple[float, str]]) -> Iterator[str]:
    yield f'<text transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle">{title}</text>'
    for y, label in ticks:
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _runs(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Columns that follow each other: where nothing was seen, no line is drawn."""
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0]):
        yield [number for _, number in run]


def _path(places: Sequence[tuple[float, float]], classes: str = "path") -> str:
    return f'<path class="{classes}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'


def _marker(group: Group, x: float, y: float) -> str:
    if group is Group.FAULT:
        return f'<rect class="mark" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
    return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' if group is Group.CONTROL else ""


def _times(timeline: ImpactTimeline) -> Iterator[str]:
    step = next((each for each in STEPS if timeline.end / each <= 12), STEPS[-1])
    for second in range(0, int(timeline.end) + 1, step):
        label = f"{second} s" if timeline.end < 600 else f"{second / 60:g} min"
        yield f'<text x="{_across(timeline, second):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{label}</text>'


def _guard(timeline: ImpactTimeline) -> Iterator[str]:
    if timeline.guard:
        x = _across(timeline, timeline.stopped_at)
        side = "end" if x > WIDTH / 2 else "start"
        near = x - 5 if side == "end" else x + 5
        yield f'<line class="guard" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 22}" y2="{HEIGHT - BOTTOM}"/>'
        words = escaped(f"stopped: {shortened(timeline.guard, 30)}")
        y = TOP + RATE_HEIGHT + GAP - 10
        yield f'<text class="guard" x="{near:.1f}" y="{y}" text-anchor="{side}">{words}</text>'


def _columns(timeline: ImpactTimeline) -> Iterator[str]:
    numbers = sorted({number for columns in timeline.columns.values() for number in columns})
    for number in numbers:
        start, end = timeline.edges[number : number + 2]
        left, right = _across(timeline, start), _across(timeline, end)
        seen = ((NAMES[group], timeline.columns[group].get(number)) for group in Group)
        lines = [f"{start:.3g} to {end:.3g} s", *(_told(name, column) for name, column in seen if column)]
        place = f'x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{HEIGHT - TOP - BOTTOM}"'
        yield f'<rect class="hit" {place}><title>{chr(10).join(lines)}</title></rect>'


def _told(name: str, column: Column) -> str:
    good = f"{name}: {column.requests - column.failed:,} of {column.requests:,} good"
    if not column.seconds:
        return good
    return f"{good}, p95 {seconds_in_words(quantile(column.seconds, 0.95))}"

"""The picture of who calls what the fault was at, and how far upstream it shows: services as boxes, callers left.

Standalone SVG without scripts. What became of a service is said by a sign, a word and the kind of its outline, besides
the colour. Names come from traces, and nobody has checked them: they are escaped, and shortened.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cutset.judge.upstream import is_faulted
from cutset.model.call_tree import Component, Role
from cutset.model.fault import Cut, points_of
from cutset.model.impact import ApiImpact, ApiVerdict, Impact
from cutset.model.point import Point
from cutset.report.drawing.boxes import entry_arrow, outline
from cutset.report.drawing.layout import ROOMY, Arc, Box, Layout, lay_out
from cutset.report.drawing.lines import arrow_tip, curve, stroke
from cutset.report.drawing.text import classes, escaped, shortened, text_width, tooltip
from cutset.report.impact.wording import difference_in_words, points_in_words

MARGIN, LEGEND, NARROWEST = 22.0, 24.0, 560.0
MOST_SERVICES = 60  # more than this is read in the table; those that are judged come first
TOOLTIP_APIS = 12


class Effected(StrEnum):
    """What became of a service, the worst of its APIs first."""

    TARGET = "target"
    AFFECTED = "affected"
    CANNOT_TELL = "cannot-tell"
    RESILIENT = "resilient"
    ASIDE = "aside"  # takes part in the requests, but is not upstream of the fault


_OF_VERDICT = {
    ApiVerdict.AFFECTED: Effected.AFFECTED,
    ApiVerdict.CANNOT_TELL: Effected.CANNOT_TELL,
    ApiVerdict.RESILIENT: Effected.RESILIENT,
}
_SIGNS = {Effected.TARGET: "↯", Effected.AFFECTED: "✗", Effected.CANNOT_TELL: "?", Effected.RESILIENT: "✓"}
_WORDS = {
    Effected.TARGET: "the fault is here",
    Effected.AFFECTED: "affected",
    Effected.CANNOT_TELL: "cannot tell",
    Effected.RESILIENT: "resilient",
    Effected.ASIDE: "not upstream",
}

_STYLE = """<style>
.impact-graph{font:13px system-ui,sans-serif;--ground:#fff;--ink:#1c2430;--muted:#5d6878;--line:#8a97a8;--box:#f3f6fa;
--bad:#d92d20;--bad-box:#fdecea;--good:#1a7f37;--good-box:#e6f6ea;--open:#6d3bbd;--open-box:#f1e9fc;
--target:#8a5a00;--target-box:#fdf3dc}
@media (prefers-color-scheme:dark){.impact-graph{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#66758a;
--box:#161d27;--bad:#ff6b60;--bad-box:#3a1715;--good:#4ac26b;--good-box:#12301c;--open:#c09bfa;--open-box:#241a38;
--target:#dfac45;--target-box:#2e2614}}
.impact-graph .ground{fill:var(--ground)}.impact-graph text{fill:var(--ink)}.impact-graph .name{font-weight:600}
.impact-graph .muted,.impact-graph .arrow{fill:var(--muted)}.impact-graph .small{font-size:11px}
.impact-graph .edge{color:var(--line)}.impact-graph .edge.bad{color:var(--bad)}
.impact-graph .edge.target{color:var(--target)}.impact-graph .line{fill:none;stroke:currentColor}
.impact-graph .tip{fill:currentColor}.impact-graph .body{stroke-width:1.5;fill:var(--box);stroke:var(--line)}
.impact-graph .affected .body{fill:var(--bad-box);stroke:var(--bad);stroke-width:2.5}
.impact-graph .resilient .body{fill:var(--good-box);stroke:var(--good)}
.impact-graph .cannot-tell .body{fill:var(--open-box);stroke:var(--open);stroke-dasharray:5 3}
.impact-graph .target .body{fill:var(--target-box);stroke:var(--target);stroke-width:2.5;stroke-dasharray:2 2}
.impact-graph .aside .body{stroke-dasharray:1 3}
.impact-graph .affected{--sign:var(--bad)}.impact-graph .resilient{--sign:var(--good)}
.impact-graph .cannot-tell{--sign:var(--open)}.impact-graph .target{--sign:var(--target)}
.impact-graph .disc{fill:var(--sign)}.impact-graph text.sign{fill:var(--ground);font-weight:700;text-anchor:middle}
.impact-graph .word{fill:var(--sign,var(--muted));font-size:11px}
</style>"""


@dataclass(frozen=True, slots=True)
class _Service:
    name: str
    effected: Effected
    word: str
    entry: bool
    apis: tuple[str, ...]  # for the tooltip


def draw_impact_graph(impact: Impact, title: str = "") -> str:
    services = _services(impact)[:MOST_SERVICES]
    number = {service.name: index for index, service in enumerate(services)}
    calls = _calls(impact, number)
    layout = lay_out(
        [_width(service) for service in services],
        {index for index, service in enumerate(services) if service.entry},
        [Arc(number[caller], number[callee], look) for (caller, callee), (look, _) in calls.items()],
        ROOMY,
    )
    width = max(NARROWEST, layout.width + 2 * MARGIN)
    top = MARGIN + (26 if title else 0)
    height = top + layout.height + MARGIN + LEGEND + MARGIN / 2
    left = (width - layout.width) / 2
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="impact-graph" role="img">',
            f"<title>{escaped(title or 'How far upstream the fault shows')}</title>{_STYLE}",
            '<rect class="ground" width="100%" height="100%"/>',
            f'<text class="name" font-size="15" x="{MARGIN}" y="{MARGIN + 8}">{escaped(title)}</text>' if title else "",
            f'<g transform="translate({left:.1f} {top:.1f})">',
            *_lines(calls, layout),
            *(_box(service, box) for service, box in zip(services, layout.boxes, strict=True)),
            "</g>",
            *_legend(services, width, height - LEGEND - MARGIN / 4),
            "</svg>\n",
        ]
    )


def _services(impact: Impact) -> list[_Service]:
    """What is judged first, then the rest by name."""
    upstream: dict[str, list[ApiImpact]] = defaultdict(list)
    for api in impact.apis:
        upstream[_box_of(api.api)].append(api)
    faulted = {_box_of(fault.point) for fault in impact.started.cut} | {_box_of(api.api) for api in impact.target}
    others = {_box_of(point) for call in impact.callers for point in call}
    names = [*upstream, *sorted(faulted - upstream.keys()), *sorted(others - upstream.keys() - faulted)]
    return [_service(name, upstream.get(name, ()), is_target=name in faulted) for name in names]


def _service(name: str, apis: Sequence[ApiImpact], *, is_target: bool) -> _Service:
    order = list(Effected)
    found = {_OF_VERDICT[api.verdict] for api in apis} | ({Effected.TARGET} if is_target else set())
    effected = min(found, key=order.index, default=Effected.ASIDE)
    affected = [api for api in apis if api.verdict is ApiVerdict.AFFECTED]
    word = _WORDS[effected]
    if effected is Effected.AFFECTED:
        word = f"{points_in_words(max(api.difference for api in affected))} failed"
        word += f", {len(affected)} of {len(apis)} APIs" if len(apis) > 1 else ""
    told = tuple(f"{api.api.api}: {api.verdict}, {difference_in_words(api)}" for api in apis)
    return _Service(name, effected, word, any(api.is_entry for api in apis), told)


def _box_of(point: Point) -> str:
    """An agent's endpoint is a store or a third party, which is known by its address or by what it is."""
    return point.peer or f"{point.caller} › {point.service}" if point.is_endpoint else point.service


def _calls(impact: Impact, drawn: Mapping[str, int]) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """By caller and callee: how the line looks, and the APIs that are called."""
    verdicts = {api.api: api.verdict for api in impact.apis}
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for caller, callee in (*sorted(impact.callers), *_untold(impact)):
        ends = _box_of(caller), _box_of(callee)
        if not all(end in drawn for end in ends):
            continue
        bad = verdicts.get(callee) is ApiVerdict.AFFECTED
        look = "target" if _is_at_fault(caller, callee, impact.started.cut) else "bad" if bad else ""
        before, apis = found.get(ends, ("", []))
        found[ends] = "target" if "target" in (look, before) else look or before, [*apis, callee.api]
    return found


def _untold(impact: Impact) -> list[tuple[Point, Point]]:
    """Calls of which no span tells, but the fault itself does: an agent's, inside of a service."""
    told = {(_box_of(caller), _box_of(callee)) for caller, callee in impact.callers}
    own = [(Point(point.caller, ""), point) for point in sorted(points_of(impact.started.cut)) if point.caller]
    return [(caller, point) for caller, point in own if (caller.service, _box_of(point)) not in told]


def _is_at_fault(caller: Point, callee: Point, cut: Cut) -> bool:
    return any(is_faulted(callee, [point]) and point.caller in ("", caller.service) for point in points_of(cut))


def _width(service: _Service) -> float:
    name = text_width(shortened(service.name, ROOMY.letters)) * ROOMY.font
    return max(1.06 * name, text_width(service.word) * 11, 70) + 30


def _lines(calls: Mapping[tuple[str, str], tuple[str, list[str]]], layout: Layout) -> Iterator[str]:
    for ((caller, callee), (look, apis)), way in zip(calls.items(), layout.ways, strict=True):
        if not way:
            continue  # a service that calls itself: its box says what became of it
        thick = 2.4 if look else 1.6
        role = Role.AFTER_FAILURE if look == "target" else Role.ALWAYS
        path, end = curve(way, 4 + 2 * thick)
        more = [f"and {len(apis) - TOOLTIP_APIS:,} more"] if len(apis) > TOOLTIP_APIS else []
        told = tooltip(f"{caller} → {callee}", *sorted(set(apis))[:TOOLTIP_APIS], *more)
        yield f"<g {classes('edge', look)}><title>{told}</title>{stroke(path, thick, role)}"
        yield f"{arrow_tip(*end, 4 + 2 * thick)}{_cross(way) if look == 'target' else ''}</g>"


def _cross(way: Sequence[tuple[float, float]]) -> str:
    """Where the fault is: on the line, before it arrives."""
    (x, y), (to_x, to_y) = way[-2:]
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    return f'<path class="line" stroke-width="3" d="M{middle_x - 6:.1f} {middle_y - 6:.1f}l12 12m0 -12l-12 12"/>'


def _box(service: _Service, box: Box) -> str:
    x = box.left + box.width / 2
    name = escaped(shortened(service.name, ROOMY.letters))
    return "".join(
        [
            f"<g {classes('box', service.effected)}><title>{tooltip(service.name, *service.apis)}</title>",
            outline(Component.UNKNOWN, box),
            f'<text class="name" x="{x:.1f}" y="{box.middle - 2:.1f}" text-anchor="middle">{name}</text>',
            f'<text class="word" x="{x:.1f}" y="{box.middle + 13:.1f}" text-anchor="middle">',
            f"{escaped(service.word)}</text>",
            entry_arrow(box) if service.entry else "",
            _sign(service.effected, box.right - 2, box.top + 2),
            "</g>",
        ]
    )


def _sign(effected: Effected, x: float, y: float) -> str:
    if effected not in _SIGNS:
        return ""
    disc = f'<circle class="disc" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
    return f'{disc}<text class="sign small" x="{x:.1f}" y="{y + 4:.1f}">{_SIGNS[effected]}</text>'


def _legend(services: Sequence[_Service], width: float, top: float) -> Iterator[str]:
    x = MARGIN
    occurring = {service.effected for service in services}
    for effected in Effected:
        if effected in occurring:
            length = 44 + 11 * text_width(_WORDS[effected])
            if x + length > width:
                return
            yield f'<g class="{effected}">{outline(Component.UNKNOWN, Box(x, top, 24, 14))}'
            yield f"{_sign(effected, x + 24, top + 1)}"
            yield f'<text class="muted small" x="{x + 38:.1f}" y="{top + 11:.1f}">{_WORDS[effected]}</text></g>'
            x += length + 12

"""The picture of FastFI's Table 5 in `docs/explanation/search.md`, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

LEFT, WIDTH, ROW, TOP = 190, 560, 16, 44
TICKS = (5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    bound: int
    ours: int
    printed: int  # by FastFI


def injections_svg(bars: Sequence[Bar]) -> str:
    bottom = TOP + ROW * len(bars)
    size = f'width="{LEFT + WIDTH + 30}" height="{bottom + 30}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="16" font-size="13">Injections per request, FastFI Table 5 (logarithmic)</text>',
        *_legend(),
    ]
    for tick in TICKS:
        parts.append(f'<line x1="{_x(tick)}" x2="{_x(tick)}" y1="{TOP - 8}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{_x(tick)}" y="{bottom + 14}" text-anchor="middle" fill="#555">{tick}</text>')
    for number, bar in enumerate(bars):
        y = TOP + ROW * number + 4
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(bar.name)}</text>')
        parts.append(f'<line x1="{_x(bar.ours)}" x2="{_x(bar.printed)}" y1="{y}" y2="{y}" stroke="#bbb"/>')
        parts.append(f'<circle cx="{_x(bar.printed)}" cy="{y}" r="4" fill="#c0392b"/>')
        parts.append(f'<circle cx="{_x(bar.ours)}" cy="{y}" r="4" fill="#1f6feb"/>')
        parts.append(f'<line x1="{_x(bar.bound)}" x2="{_x(bar.bound)}" y1="{y - 6}" y2="{y + 6}" stroke="black"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend() -> list[str]:
    marks = (("#1f6feb", "Cutset"), ("#c0392b", "FastFI, as printed"), ("black", "lower bound (tick)"))
    return [
        f'<text x="{LEFT + 150 * number}" y="32" fill="{colour}">{label}</text>'
        for number, (colour, label) in enumerate(marks)
    ]


def _x(injections: int) -> float:
    return round(LEFT + WIDTH * log10(injections / 3) / log10(1300 / 3), 1)

"""Coverage over budget as a picture (SVG): what each further unit of budget buys, and from where on it buys little."""

from collections.abc import Iterator

from cutset.harden.frontier import Frontier

LEFT, TOP, WIDTH, HEIGHT = 56, 40, 560, 260
TICKS = (0, 0.25, 0.5, 0.75, 1)
MOST_LABELS = 12  # of budgets on the axis: more would overlap


def frontier_svg(frontier: Frontier, *, budget: float) -> str:
    """With the given budget and the point of diminishing returns marked."""
    size = f'width="{LEFT + WIDTH + 30}" height="{TOP + HEIGHT + 50}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "\n".join([head, *_parts(frontier, budget), "</svg>"]) + "\n"


def _parts(frontier: Frontier, budget: float) -> Iterator[str]:
    points, knee = frontier.points, frontier.points[frontier.knee]
    widest = max(points[-1].budget, budget, 1.0)

    def x(of: float) -> float:
        return round(LEFT + WIDTH * of / widest, 1)

    def y(coverage: float) -> float:
        return round(TOP + HEIGHT * (1 - coverage), 1)

    yield '<rect width="100%" height="100%" fill="white"/>'
    yield f'<text x="{LEFT}" y="18" font-size="13">Findings of low-priority requests mitigated, by budget</text>'
    for tick in TICKS:
        yield f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(tick)}" y2="{y(tick)}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y(tick) + 4}" text-anchor="end" fill="#555">{tick:.0%}</text>'
    for point in points[:: max(1, -(-len(points) // MOST_LABELS))]:
        yield f'<text x="{x(point.budget)}" y="{y(0) + 16}" text-anchor="middle" fill="#555">{point.budget:g}</text>'
    yield f'<text x="{LEFT + WIDTH / 2}" y="{y(0) + 36}" text-anchor="middle" fill="#555">budget</text>'
    # Steps: a budget between two points buys what the lower one does.
    steps = [f"M {x(points[0].budget)} {y(points[0].coverage)}"]
    steps += [f"H {x(point.budget)} V {y(point.coverage)}" for point in points[1:]]
    yield f'<path d="{" ".join(steps)}" fill="none" stroke="#1f6feb" stroke-width="2"/>'
    yield f'<line x1="{x(budget)}" x2="{x(budget)}" y1="{y(1)}" y2="{y(0)}" stroke="#888" stroke-dasharray="4 3"/>'
    yield f'<text x="{x(budget) + 4}" y="{y(0) - 6}" fill="#555">budget {budget:g}</text>'
    yield f'<circle cx="{x(knee.budget)}" cy="{y(knee.coverage)}" r="5" fill="#c0392b"/>'
    # Below the line, and to the side where there is room.
    left_half = x(knee.budget) < LEFT + WIDTH / 2
    place = f'x="{x(knee.budget) + (8 if left_half else -8)}" text-anchor="{"start" if left_half else "end"}"'
    yield (
        f'<text {place} y="{y(knee.coverage) + 16}" fill="#c0392b">'
        f"{knee.coverage:.0%} at {knee.budget:g}: from here on returns diminish</text>"
    )

"""Draws the pictures of `docs/explanation/proof.md`: `python docs/proof_pictures.py`. Standard library only.

One request throughout. It needs `cart`; it needs `prices`, or else `cache`; with fresh prices it also asks for `ads`,
and does without them if it must. Its decision tree has five leaves, which share all sixteen sets of its four calls.
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
LIGHT = {
    "ground": "#ffffff",
    "ink": "#1c2430",
    "muted": "#667085",
    "line": "#8a97a8",
    "box": "#f3f6fa",
    "good": "#1a7f37",
    "good-box": "#e6f5ea",
    "bad": "#d92d20",
    "bad-box": "#fdeceb",
    "free-box": "#ffffff",
    "mark": "#1f6feb",
    "mark-box": "#e8f1fe",
}
DARK = {
    "ground": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9aa5b1",
    "line": "#6b7785",
    "box": "#1b232d",
    "good": "#4ac26b",
    "good-box": "#12301c",
    "bad": "#ff7b72",
    "bad-box": "#3a1715",
    "free-box": "#0d1117",
    "mark": "#58a6ff",
    "mark-box": "#12263f",
}
KINDS = ("good", "bad", "mark")


def main() -> None:
    for name, picture in {"tree": tree(), "zone": zone(), "paths": paths(), "levels": levels()}.items():
        (IMAGES / f"proof-{name}.svg").write_text(picture, encoding="utf-8")


def rules(colours: dict[str, str]) -> str:
    found = [
        f".ground{{fill:{colours['ground']}}}text{{fill:{colours['ink']}}}.muted{{fill:{colours['muted']}}}",
        f".line{{stroke:{colours['line']};fill:none}}.tip{{fill:{colours['line']}}}",
        f".box{{fill:{colours['box']};stroke:{colours['line']}}}",
        f".free{{fill:{colours['free-box']};stroke:{colours['line']};stroke-dasharray:4 3}}",
    ]
    for kind in KINDS:
        found.append(
            f".{kind}{{fill:{colours[f'{kind}-box']};stroke:{colours[kind]}}}text.{kind}{{fill:{colours[kind]};"
        )
        found.append(f"stroke:none}}.line.{kind}{{fill:none;stroke:{colours[kind]};stroke-width:2.5}}")
    return "".join(found)


def svg(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    style = (
        "text{font-family:system-ui,sans-serif;font-size:14px}.small{font-size:12px}.bold{font-weight:600}"
        f".mono{{font-family:ui-monospace,monospace;font-size:13px}}{rules(LIGHT)}"
        f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img">\n<title>{escape(title)}</title>\n<style>{style}</style>\n'
        f'<rect class="ground" width="{width}" height="{height}" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def note(y: float, words: str, kind: str = "") -> str:
    """From the left edge on, line by line."""
    step = 18 if "small" in kind else 20
    return "\n".join(text(20, y + step * row, each, kind, "start") for row, each in enumerate(words.splitlines()))


def box(x: float, y: float, width: float, height: float, kind: str, *lines: str) -> str:
    """Centred at x, y. The first line is bold."""
    found = [
        f'<rect x="{x - width / 2}" y="{y - height / 2}" width="{width}" height="{height}" rx="7" class="{kind}"/>'
    ]
    top = y - 9 * (len(lines) - 1) + 5
    found += [text(x, top + 18 * number, line, "small" if number else "bold") for number, line in enumerate(lines)]
    return "\n".join(found)


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "") -> str:
    middle = (y1 + y2) / 2
    return f'<path d="M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}" class="line {kind}"/>'


def arrow(x1: float, y: float, x2: float, kind: str = "") -> str:
    tip = f'<path d="M{x2} {y} l-8 -4 v8 z" class="tip"/>'
    return f'<path d="M{x1} {y} H{x2 - 6}" class="line {kind}"/>{tip}'


def tree() -> str:
    """The request as a tree of questions; one run is one way down."""
    asked = {"cart": (420, 62), "prices": (300, 152), "ads": (160, 247), "cache": (452, 247)}
    leaves = [
        (88, 370, "good", "{ }", "survives", "decides 2 sets"),
        (232, 370, "good", "{ads}", "survives", "decides 2 sets"),
        (378, 370, "good", "{prices}", "survives", "decides 2 sets"),
        (526, 370, "bad", "{prices, cache}", "fails", "decides 2 sets"),
        (678, 370, "bad", "{cart}", "fails", "decides 8 sets"),
    ]
    marked = {("cart", "prices"), ("prices", "cache"), ("cache", 2)}
    edges: list[tuple[str, str | int, str]] = [
        ("cart", "prices", "healthy"),
        ("prices", "ads", "healthy"),
        ("prices", "cache", "failed"),
        ("ads", 0, "healthy"),
        ("ads", 1, "failed"),
        ("cache", 2, "healthy"),
        ("cache", 3, "failed"),
        ("cart", 4, "failed"),
    ]
    parts = [note(28, "Every call asks one question: is there a fault for me?", "bold")]
    for start, end, answer in edges:
        x1, y1 = asked[start]
        x2, y2 = asked[end] if isinstance(end, str) else leaves[end][:2]
        bottom = y2 - (20 if isinstance(end, str) else 34)
        parts.append(line(x1, y1 + 20, x2, bottom, "mark" if (start, end) in marked else ""))
        side = -14 if x2 < x1 else 14
        label_x, label_y = (x1 + 3 * x2) / 4 + side, y1 + 0.6 * (bottom - y1) + 4
        kind = "small bad" if answer == "failed" else "small muted"
        parts.append(text(label_x, label_y, answer, kind, "end" if side < 0 else "start"))
    for name, (x, y) in asked.items():
        parts.append(box(x, y, 110, 40, "mark" if name != "ads" else "box", f"{name}?"))
    for x, y, kind, *says in leaves:
        parts.append(box(x, y, 138, 68, kind, *says))
    words = """\
The run of {prices} asked cart, prices and cache, and never ads. So {prices, ads} goes
the same way: nobody asks for the difference. Five runs decide all 16 sets."""
    parts.append(note(446, words))
    return svg(766, 486, "The decision tree of a request: each run is one way down to one leaf", parts)


def zone() -> str:
    """What one survivor decides."""
    calls = [
        ("cart", "good", "called, healthy", "zone: must stay healthy"),
        ("prices", "bad", "its fault fired", "condition: must be failed"),
        ("cache", "good", "called, healthy", "zone: must stay healthy"),
        ("ads", "free", "not called", "free: nobody asks"),
    ]
    parts = [note(28, "The run of {prices} survived. What else does it decide?", "bold")]
    for number, (name, kind, seen, role) in enumerate(calls):
        x = 113 + 180 * number
        parts.append(box(x, 80, 150, 56, kind, name, seen))
        parts.append(text(x, 130, role, "small " + (kind if kind in KINDS else "muted")))
    sets = [
        ("{prices}", "good", "this run"),
        ("{prices, ads}", "good", "agrees with it"),
        ("{ads}", "free", "lacks the condition"),
        ("{prices, cart}", "free", "hits the zone"),
        ("{prices, cache}", "free", "hits the zone"),
    ]
    for number, (name, kind, why) in enumerate(sets):
        x = 91 + 146 * number
        parts.append(box(x, 195, 138, 50, kind, name, why))
    words = """\
Green: proven to survive, without an experiment of its own.  Dashed: this run says nothing."""
    parts.append(note(250, words, "small muted"))
    return svg(766, 268, "A survivor has a condition, what fired, and a zone, what was called and healthy", parts)


def paths() -> str:
    """Why the path of a survivor proves too much."""
    rows = [
        ("Injected: {callee}", "bad", "503, injected", "box", "500, its own", "good", "tolerates 500", "survives"),
        (
            "By its path: {server} is harmless",
            "free",
            "not needed",
            "free",
            "not on the path",
            "good",
            "all it needs",
            "“survives”",
        ),
        ("Injected: {server}", "free", "not called", "bad", "503, injected", "bad", "does not tolerate 503", "fails"),
    ]
    parts = [note(28, "A load balancer that tolerates 500, and not 503 (answers travel from left to right)", "bold")]
    for number, (title, one, one_says, two, two_says, three, three_says, end) in enumerate(rows):
        y = 92 + 100 * number
        parts.append(text(20, y - 38, title, "small muted", "start"))
        parts.append(box(90, y, 140, 50, one, "callee", one_says))
        parts.append(box(290, y, 140, 50, two, "server", two_says))
        parts.append(box(510, y, 180, 50, three, "load balancer", three_says))
        parts.append(arrow(160, y, 220))
        parts.append(arrow(360, y, 420))
        kind = "bad" if number else "good"
        parts.append(text(675, y + 5, end, f"bold {kind}"))
    words = """\
The server was called in the first run, and had no fault of ours: it is in the zone. So that run says
nothing about {server}, and {server} is injected. How a call failed by itself proves nothing about ours."""
    parts.append(note(362, words))
    return svg(766, 402, "Why paths are not enough", parts)


def levels() -> str:
    """Three rounds."""
    columns = [
        ("round 1", [("{ }", "good", "calls cart, prices, ads")]),
        (
            "round 2",
            [
                ("{cart}", "bad", "fails"),
                ("{prices}", "good", "calls cache, too"),
                ("{ads}", "good", "survives"),
                ("{cache}", "free", "never called: { } decides"),
            ],
        ),
        (
            "round 3",
            [
                ("{cart, …}", "free", "contains {cart}"),
                ("{prices, cache}", "bad", "fails"),
                ("{prices, ads}", "free", "{prices} decides"),
                ("{ads, cache}", "free", "{ads} decides"),
            ],
        ),
        ("round 4", [("nothing", "free", "all sets of 3 are decided")]),
    ]
    parts = [note(28, "Level by level: only what no run so far decides is injected", "bold")]
    for number, (title, sets) in enumerate(columns):
        x = 102 + 187 * number
        parts.append(text(x, 62, title, "muted small"))
        for row, (name, kind, why) in enumerate(sets):
            parts.append(box(x, 100 + 66 * row, 172, 52, kind, name, why))
    words = """\
Coloured: five experiments.  Dashed: eleven sets that need none.  A new call (cache) shows up in the run of
the smaller set, so that each cut is grown from what is inside it: k + 1 rounds find every cut of k calls."""
    parts.append(note(352, words, "small muted"))
    return svg(766, 388, "The search asks level by level", parts)


if __name__ == "__main__":
    main()

"""The picture of how log messages follow from a fault (ANDURIL §4.1), as a standalone SVG without scripts.

Causal chains that begin alike are drawn as one tree, the fault on top, a row for each step. What follows stays in the
column of what it follows from; only where chains part, all but the longest move one column to the right. So chains of
any length keep the width in which code can be read.

Texts come from source code and logs, and nobody has checked them: they are escaped, and shortened; tooltips have more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from cutset.model.reproduction.result import CausalKind, CausalStep, FailureMessage
from cutset.model.reproduction.site import FiredFault
from cutset.model.wording import count

MOST_ROWS = 150  # more than this is read in the list of messages, not in a picture
LETTERS, TOOLTIP_LETTERS = 118, 1_000
ROW, GAP, COLUMN, MARGIN, BOX = 42, 10, 26, 16, 900  # heights, then widths, in pixels
SIGN = 9  # half the width of a step's sign, which is on the line between the steps

_KINDS = {  # what a reader calls it, and its sign: outline, and what is in it
    CausalKind.EXTERNAL: ("library call fails", "octagon", "×"),
    CausalKind.NEW: ("exception is raised", "octagon", "+"),
    CausalKind.INTERNAL: ("exception comes out", "octagon", ""),
    CausalKind.HANDLER: ("handler catches it", "shield", ""),
    CausalKind.CONDITION: ("condition decides", "diamond", "?"),
    CausalKind.INVOCATION: ("function is called", "triangle", ""),
    CausalKind.LOCATION: ("this runs", "circle", ""),
}
_OUTLINES = {  # inside a square of 2 × 2 around 0, to be scaled
    "octagon": "M-.42-1H.42L1-.42V.42L.42 1H-.42L-1 .42V-.42Z",
    "shield": "M-.9-.9H.9V.1C.9.6.4.9 0 1.1C-.4.9-.9.6-.9.1Z",
    "diamond": "M0-1.1L1.1 0L0 1.1L-1.1 0Z",
    "triangle": "M-.8-1L1 0L-.8 1Z",
    "circle": "M-.7 0a.7.7 0 1 0 1.4 0a.7.7 0 1 0-1.4 0Z",
    "page": "M-.75-1H.3L.75-.55V1H-.75Z",
}
_PALETTE = (  # selector, property, on light ground, on dark ground
    (".ground", "fill", "#ffffff", "#0d1117"),
    ("text", "fill", "#1c2430", "#e6edf3"),
    (".muted", "fill", "#5d6878", "#95a1b1"),
    (".rail", "stroke", "#8a97a8", "#66758a"),
    (".box", "fill", "#f6f8fa", "#161d27"),
    (".sign", "fill", "#ffffff", "#0d1117"),
    (".external .sign,.new .sign", "fill", "#d92d20", "#ff6b60"),
    (".external .letter,.new .letter", "fill", "#ffffff", "#0d1117"),
    (".external .sign,.new .sign,.internal .sign", "stroke", "#d92d20", "#ff6b60"),
    (".handler .sign", "stroke", "#9a6700", "#d8a33a"),
    (".condition .sign", "stroke", "#7a4fd0", "#ab8df0"),
    (".invocation .sign", "stroke", "#1f6feb", "#58a6ff"),
    (".location .sign", "stroke", "#5d6878", "#95a1b1"),
    (".message .sign", "stroke", "#1a7f37", "#4ac26b"),
    (".message .box", "stroke", "#1a7f37", "#4ac26b"),
    (".lacking .sign,.lacking .box", "stroke", "#9a6700", "#d8a33a"),
    (".root .box", "stroke", "#d92d20", "#ff6b60"),
)
_FORMS = (
    ("text", "font-family:system-ui,sans-serif;font-size:12px"),
    (".code", "font-family:ui-monospace,monospace"),
    (".kind", "font-weight:600"),
    (".letter", "font-weight:700;text-anchor:middle"),
    (".rail", "fill:none;stroke-width:1.5"),
    (".sign", "stroke-width:.2"),
    (".root .box,.message .box", "stroke-width:1.4"),
    (".lacking .box", "stroke-dasharray:5 4"),
)


@dataclass(slots=True)
class _Step:
    """A row of the picture, and what follows from it."""

    classes: str
    outline: str
    letter: str
    kind: str
    where: str
    text: str
    following: "dict[object, _Step]" = field(default_factory=dict)
    weight: int = 0  # how much follows: steps of all the chains through it
    lines: list[int] = field(default_factory=list)  # of the failure log, if it is a message


@dataclass(frozen=True, slots=True)
class _Row:
    step: _Step
    column: int
    above: int  # the row that it follows from; -1: none


def draw_causes(faults: Sequence[FiredFault], messages: Sequence[FailureMessage]) -> str:
    """ "" if no message has a known chain: then there is nothing to draw."""
    chained = [message for message in messages if message.chain]
    if not chained:
        return ""
    rows = list(_rows(list(_tree(faults, chained).values())))
    drawn = rows[:MOST_ROWS]
    width = 2 * MARGIN + SIGN + (max(row.column for row in drawn) * COLUMN) + 2 * SIGN + BOX
    legend = _legend(drawn, _top(len(drawn)) + GAP, width)
    notes = _notes(len(rows) - len(drawn), len(messages) - len(chained))
    bottom = legend[-1][1] + 24
    height = bottom + 18 * len(notes) + MARGIN / 2
    size = f'width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="causes" role="img">',
            "<title>How the log messages follow from the fault</title>",
            _style(),
            '<rect class="ground" width="100%" height="100%"/>',
            *_rails(drawn),
            *(_drawn(row, _top(number)) for number, row in enumerate(drawn)),
            *(part for part, _ in legend),
            *(
                f'<text class="muted" x="{MARGIN}" y="{bottom + 18 * number:.0f}">{xml_text(note)}</text>'
                for number, note in enumerate(notes)
            ),
            "</svg>\n",
        ]
    )


def kind_in_words(kind: CausalKind) -> str:
    return _KINDS[kind][0]


def message_in_words(message: FailureMessage) -> str:
    if message.absent:
        return f"no such message any more, {'as' if message.shown else 'unlike'} in the reproducing run"
    return f"log message, {'shown again' if message.shown else 'not shown again'}"


def _tree(faults: Sequence[FiredFault], messages: Iterable[FailureMessage]) -> dict[object, _Step]:
    """By how they look: nodes may differ in what nobody sees."""
    roots: dict[object, _Step] = {}
    effects = {(fault.site.module, fault.site.line): fault.effect for fault in faults}
    for message in messages:
        following = roots
        for number, node in enumerate(message.chain):
            look = (node.kind, node.module, node.function, node.line, node.text)
            step = following.setdefault(look, _step(node))
            step.weight += len(message.chain) - number
            if number == 0 and (effect := effects.get((node.module, node.line))):
                step.classes, step.text = f"{node.kind.name.lower()} root", f"{node.text}  ⟶  {effect}"
            following = step.following
        known = (message.text, message.shown, message.absent)
        step = following.setdefault(known, _message_step(message))
        if not message.absent:
            step.lines.append(message.line)
    return roots


def _step(node: CausalStep) -> _Step:
    words, outline, letter = _KINDS[node.kind]
    return _Step(
        node.kind.name.lower(), outline, letter, words, f"{node.function} · {node.module}:{node.line}", node.text
    )


def _message_step(message: FailureMessage) -> _Step:
    classes, letter = ("message", "✓") if message.shown else ("message lacking", "–")
    return _Step(classes, "page", letter, message_in_words(message), "", message.text)


def _where(step: _Step) -> str:
    if not step.lines:
        return step.where
    more = f" and {len(step.lines) - 4} more" if len(step.lines) > 4 else ""
    return f"failure log, line{'' if len(step.lines) == 1 else 's'} {', '.join(map(str, step.lines[:4]))}{more}"


def _rows(roots: Sequence[_Step]) -> Iterator[_Row]:
    """Depth first, without recursion as chains may be long; the largest branch last, in the column of its parent."""
    number = 0
    waiting = [(step, 0, -1) for step in reversed(roots)]
    while waiting:
        step, column, above = waiting.pop()
        yield _Row(step, column, above)
        branches = sorted(step.following.values(), key=lambda branch: branch.weight)
        waiting += [(last, column, number) for last in branches[-1:]]
        waiting += [(branch, column + 1, number) for branch in branches[-2::-1]]
        number += 1


def _top(row: int) -> float:
    return MARGIN + row * (ROW + GAP)


def _centre(row: _Row) -> float:
    return MARGIN + SIGN + row.column * COLUMN


def _rails(rows: Sequence[_Row]) -> Iterator[str]:
    for number, row in enumerate(rows):
        if row.above >= 0:
            x, to_x = _centre(rows[row.above]), _centre(row)
            y, to_y = _top(row.above) + ROW / 2, _top(number) + ROW / 2
            corner = f"V{to_y - 10:.0f}Q{x} {to_y:.0f} {x + 10} {to_y:.0f}H{to_x}" if x != to_x else f"V{to_y:.0f}"
            yield f'<path class="rail" d="M{x} {y:.0f}{corner}"/>'


def _drawn(row: _Row, top: float) -> str:
    step, x, middle = row.step, _centre(row), top + ROW / 2
    left, where, code = x + SIGN + 8, _where(step), _shortened(step.text, LETTERS)
    tooltip = "\n".join((step.kind, where, step.text))
    return "".join(
        [
            f'<g class="{step.classes}"><title>{xml_text(tooltip[:TOOLTIP_LETTERS])}</title>',
            f'<rect class="box" x="{left}" y="{top:.0f}" width="{BOX}" height="{ROW}" rx="5"/>',
            _sign(step.outline, step.letter, x, middle),
            f'<text x="{left + 10}" y="{middle - 4:.0f}"><tspan class="kind">{xml_text(step.kind)}</tspan>',
            f'<tspan class="muted" dx="10">{xml_text(_shortened(where, LETTERS - len(step.kind)))}</tspan></text>',
            f'<text class="code" x="{left + 10}" y="{middle + 14:.0f}">{xml_text(code)}</text></g>',
        ]
    )


def _sign(outline: str, letter: str, x: float, y: float) -> str:
    place = f'transform="translate({x} {y:.0f}) scale({SIGN})"'
    shape = f'<path class="sign" d="{_OUTLINES[outline]}" {place}/>'
    return shape + (f'<text class="letter" x="{x}" y="{y + 4:.0f}">{letter}</text>' if letter else "")


def _legend(rows: Sequence[_Row], top: float, width: float) -> list[tuple[str, float]]:
    """Of the kinds that occur: their signs, each with the paper's name; and where each is, from above."""
    occurring = {row.step.classes.split()[0] for row in rows}
    parts: list[tuple[str, float]] = []
    x, y = float(MARGIN), top + SIGN
    for kind, (_, outline, letter) in _KINDS.items():
        if (name := kind.name.lower()) in occurring:
            if x + 160 > width:
                x, y = float(MARGIN), y + 26
            words = f'<text class="muted" x="{x + 2 * SIGN + 8:.0f}" y="{y + 4:.0f}">{kind}</text>'
            parts.append((f'<g class="{name}">{_sign(outline, letter, x + SIGN, y)}{words}</g>', y))
            x += 160
    return parts


def _notes(rows_left_out: int, without_chain: int) -> list[str]:
    notes = []
    if rows_left_out:
        notes.append(f"Not drawn: {rows_left_out:,} more steps")
    if without_chain:
        notes.append(f"Not drawn: {count(without_chain, 'message')} that no known causal chain leads to")
    return notes


def _style() -> str:
    light, dark = (_sheet((each[0], f"{each[1]}:{each[ground]}") for each in _PALETTE) for ground in (2, 3))
    return f"<style>\n{_sheet(_FORMS)}\n{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}\n</style>"


def _sheet(rules: Iterable[tuple[str, str]]) -> str:
    """Rules that leave the rest of a page alone in which the picture is embedded."""
    return "\n".join(
        ",".join(f".causes {selector}" for selector in selectors.split(",")) + f"{{{declarations}}}"
        for selectors, declarations in rules
    )


def _shortened(text: str, letters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[: letters - 1]}…"


def xml_text(text: str) -> str:
    """What XML forbids, and what would turn round or hide the letters after it, becomes visible."""
    kept = (letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return escape("".join(kept))

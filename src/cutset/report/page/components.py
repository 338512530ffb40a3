"""The small parts that all pages are made of, in the dashboard as in reports that travel.

htpy escapes whatever text it is given, so that nothing a span, a log or an answer says can become markup; only drawings
are markup already (`document.drawing`). Parts hold lists, not generators: whoever keeps a part may render it twice.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum

import htpy as h

# What is said of cuts, drills and APIs: the sign, for who does not see colours, and the word.
SIGNS: Mapping[str, tuple[str, str]] = {
    "failed": ("✗", "fails"),
    "fatal": ("✗", "fatal"),
    "affected": ("✗", "affected"),
    "degraded": ("~", "degraded"),
    "survived": ("✓", "survives"),
    "passed": ("✓", "passed"),
    "tolerated": ("✓", "tolerated"),
    "resilient": ("✓", "resilient"),
    "unknown": ("?", "not known"),
    "cannot tell": ("?", "cannot tell"),
    "not tried": ("·", "not tried"),
    "not coverable": ("!", "not coverable"),
    "faulted": ("↯", "the fault is here"),
    "the log is reproduced": ("✓", "the log is reproduced"),
    "the messages are reproduced": ("≃", "the messages are reproduced"),
    "the symptom is reproduced": ("≈", "the symptom is reproduced"),
    "not reproduced": ("?", "not reproduced"),
}
LONGEST = 400  # characters of a name or a reason on a page: whoever wants the rest has the JSON


def verdict(said: StrEnum | str, word: str = "") -> h.Element:
    """`✗ fails`, in its colour; another word may be given."""
    sign, usual = SIGNS.get(str(said), ("·", str(said)))
    return h.span(class_=["verdict", css_class(said)])[h.span(".sign", aria_hidden="true")[sign], " ", word or usual]


def css_class(said: StrEnum | str) -> str:
    return str(said).replace(" ", "-")


def bounded(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def code(text: str) -> h.Element:
    return h.code[bounded(text)]


def with_code(text: str) -> list[h.Node]:
    """Between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them is part of the text
        return [text]
    return [h.code[part] if number % 2 else part for number, part in enumerate(parts)]


def command(text: str) -> h.Element:
    """To be copied into a terminal."""
    return h.pre(tabindex="0")[h.code[text]]


def note(*children: h.Node, kind: str = "") -> h.Element:
    """`kind` is a verdict, whose colour it has."""
    return h.div(class_=["note", css_class(kind)])[children]


def tiles(numbers: Iterable[tuple[str, str]]) -> h.Element:
    """Pairs of a number and what it counts."""
    return h.dl(".tiles")[[h.div[h.dt[what], h.dd[number]] for number, what in numbers]]


def facts(rows: Iterable[tuple[str, h.Node]]) -> h.Element:
    return h.dl(".facts")[[[h.dt[name], h.dd[value]] for name, value in rows]]


def table(heads: Iterable[h.Node], rows: Iterable[Iterable[h.Node]], *, caption: str) -> h.Element:
    """`caption` is for who cannot see it; a cell may be a `td` or `th` of its own."""
    return h.div(".scroll", tabindex="0", role="region", aria_label=caption)[
        h.table[
            h.caption(".visually-hidden")[caption],
            h.thead[h.tr[[head if _is_cell(head) else h.th(scope="col")[head] for head in heads]]],
            h.tbody[[h.tr[[cell if _is_cell(cell) else h.td[cell] for cell in row]] for row in rows]],
        ]
    ]


def _is_cell(node: h.Node) -> bool:
    # What is inside may be read once only.
    return isinstance(node, h.Element) and next(node.iter_chunks()).startswith(("<td", "<th"))


def empty(what: str, todo: str = "", run: str = "") -> h.Element:
    """Nothing is there: what to do about it, and the command for that."""
    return h.div(".empty")[h.p[with_code(what)], todo and h.p[with_code(todo)], run and command(run)]


def when(at: float) -> h.Element:
    """A moment, in Unix seconds."""
    moment = datetime.fromtimestamp(at, UTC)
    return h.time(datetime=moment.isoformat(timespec="seconds"))[f"{moment:%Y-%m-%d %H:%M:%S} UTC"]

"""The graph of how log messages follow from a fault (ANDURIL §4.1), to stand beside the log.

Causal chains that begin alike are one tree, the fault on top, a row for each step. What follows stays in the column of
what it follows from; only where chains part, all but the longest move one column to the right. So chains of any length
keep the width in which code can be read; and rows are as high as their text, on whatever screen. What ran in the run
that shows the failure has solid lines; what is only inferred from the source has dashed ones, and says so.

Who points at a row, or goes to it, sees all that is of the same chains, in the graph as in the log: each has the class
of its messages, and `highlights` are rules for these. That needs no script.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import htpy as h
from markupsafe import Markup

from cutset.model.reproduction.result import CausalKind, CausalStep, FailureMessage
from cutset.model.reproduction.site import FiredFault
from cutset.model.wording import count
from cutset.report.reproduction.words import inferred

MOST_ROWS = 150  # more than this is read in the list of messages, not in a graph
MOST_LETTERS = 600  # of one line
MOST_LINES = 4  # of the log, that a message names
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_KINDS = {  # what a reader calls it, and its sign: outline, and what is in it
    CausalKind.EXTERNAL: ("library call fails", "octagon", "×"),
    CausalKind.NEW: ("exception is raised", "octagon", "+"),
    CausalKind.INTERNAL: ("exception comes out", "octagon", ""),
    CausalKind.HANDLER: ("handler catches it", "shield", ""),
    CausalKind.CONDITION: ("condition decides", "diamond", "?"),
    CausalKind.INVOCATION: ("function is called", "triangle", ""),
    CausalKind.LOCATION: ("this runs", "circle", ""),
}
_OUTLINES = {  # inside a square of 2 × 2 around 0
    "octagon": "M-.42-1H.42L1-.42V.42L.42 1H-.42L-1 .42V-.42Z",
    "shield": "M-.9-.9H.9V.1C.9.6.4.9 0 1.1C-.4.9-.9.6-.9.1Z",
    "diamond": "M0-1.1L1.1 0L0 1.1L-1.1 0Z",
    "triangle": "M-.8-1L1 0L-.8 1Z",
    "circle": "M-.7 0a.7.7 0 1 0 1.4 0a.7.7 0 1 0-1.4 0Z",
    "page": "M-.75-1H.3L.75-.55V1H-.75Z",
}


@dataclass(slots=True)
class _Step:
    """A row of the graph, and what follows from it."""

    classes: str
    outline: str
    letter: str
    kind: str
    where: str
    text: str
    inferred: bool  # so that the line to it is dashed
    following: "dict[object, _Step]" = field(default_factory=dict)
    weight: int = 0  # how much follows: steps of all the chains through it
    messages: list[int] = field(default_factory=list)  # that follow, by their numbers
    lines: list[int] = field(default_factory=list)  # of the failure log, if it is a message


@dataclass(frozen=True, slots=True)
class _Row:
    step: _Step
    rails: tuple[bool, ...]  # of each column to its left, whether what its line leads to is inferred
    line: str  # by which it follows: "above" in its own column, "turn" from the one to the left, "" for a fault


def causal_graph(
    faults: Sequence[FiredFault], messages: Sequence[FailureMessage], linked: Collection[int] = ()
) -> h.Node:
    """None if no message has a known chain: there is nothing to draw. `linked` are lines of the log that are shown."""
    chained = [number for number, message in enumerate(messages) if message.chain]
    if not chained:
        return None
    rows = list(_rows(list(_tree(faults, messages, chained).values())))
    drawn = rows[:MOST_ROWS]
    return [
        h.ol(".causes", tabindex="0", aria_label="How the log messages follow from the fault")[
            (_drawn(row, linked) for row in drawn)
        ],
        _legend(drawn),
        (h.p(".small.muted")[each] for each in _notes(len(rows) - len(drawn), len(messages) - len(chained))),
    ]


def highlights(messages: int) -> h.Element:
    """Rules for so many messages: what one points at or goes to, and all that belongs to it, stands out."""
    rules = (
        f".beside:has(.m{number}:is(:hover,:focus-within,:target)) .m{number}{{--lit:var(--link);--kept:1}}"
        for number in range(messages)
    )
    return h.style[Markup("\n".join(rules))]  # noqa: S704 -- numbers


def kind_in_words(kind: CausalKind) -> str:
    return _KINDS[kind][0]


def message_in_words(message: FailureMessage) -> str:
    if message.absent:
        return f"no such message any more, {'as' if message.shown else 'unlike'} in the reproducing run"
    return f"log message, {'shown again' if message.shown else 'not shown again'}"


def plain(text: str) -> str:
    """As in a log: without a terminal's colours, and not endless."""
    kept = _ANSI.sub("", text).replace("\t", "    ")
    return kept if len(kept) <= MOST_LETTERS else f"{kept[:MOST_LETTERS]}… ({len(kept) - MOST_LETTERS:,} more)"


def _tree(
    faults: Sequence[FiredFault], messages: Sequence[FailureMessage], numbers: Iterable[int]
) -> dict[object, _Step]:
    """By how they look: nodes may differ in what nobody sees."""
    roots: dict[object, _Step] = {}
    effects = {(fault.site.module, fault.site.line): fault.effect for fault in faults}
    for message_number in numbers:
        message, following = messages[message_number], roots
        for number, (node, guessed) in enumerate(zip(message.chain, inferred(message.chain), strict=True)):
            look = (node.kind, node.module, node.function, node.line, node.text, guessed)
            step = following.setdefault(look, _step(node, is_inferred=guessed))
            step.weight += len(message.chain) - number
            step.messages.append(message_number)
            if number == 0 and (effect := effects.get((node.module, node.line))):
                step.classes, step.text = f"{node.kind.name.lower()} root", f"{node.text}  ⟶  {effect}"
            following = step.following
        known = (message.text, message.shown, message.absent)
        step = following.setdefault(known, _message_step(message, is_inferred=inferred(message.chain)[-1]))
        step.messages.append(message_number)
        if not message.absent:
            step.lines.append(message.line)
    return roots


def _step(node: CausalStep, *, is_inferred: bool) -> _Step:
    words, outline, letter = _KINDS[node.kind]
    where = f"{node.function} · {node.module}:{node.line}"
    return _Step(node.kind.name.lower(), outline, letter, words, where, node.text, is_inferred)


def _message_step(message: FailureMessage, *, is_inferred: bool) -> _Step:
    """That it follows from an inferred step is itself inferred, although it is there."""
    classes, letter = ("message", "✓") if message.shown else ("message lacking", "–")
    return _Step(classes, "page", letter, message_in_words(message), "", message.text, is_inferred or not message.shown)


def _rows(roots: Sequence[_Step]) -> Iterator[_Row]:
    """Depth first, without recursion as chains may be long; the largest branch last, in the column of its parent."""
    waiting = [_Row(step, (), "") for step in reversed(roots)]
    while waiting:
        row = waiting.pop()
        yield row
        branches = sorted(row.step.following.values(), key=lambda branch: branch.weight)
        waiting += [_Row(last, row.rails, "above") for last in branches[-1:]]
        waiting += [_Row(branch, (*row.rails, branches[-1].inferred), "turn") for branch in branches[-2::-1]]


def _drawn(row: _Row, linked: Collection[int]) -> h.Element:
    """Left of it pass the lines of all columns whose largest branch is still to come: that is, of all of them."""
    step = row.step
    messages = (f"m{number}" for number in dict.fromkeys(step.messages))
    last = max(step.following.values(), key=lambda branch: branch.weight, default=None)
    return h.li(class_=["step", "chained", step.classes, {"inferred": step.inferred}, *messages])[
        (
            h.i(class_=["rail", {"turn": row.line == "turn" and column == len(row.rails), "inferred": guessed}])
            for column, guessed in enumerate(row.rails, start=1)
        ),
        h.span(
            class_=[
                "own",
                {
                    "from-above": row.line == "above",
                    "goes-on": last is not None,
                    "inferred": last is not None and last.inferred,
                },
            ]
        )[_sign(step.outline, step.letter)],
        h.div(".box")[
            h.b[step.kind],
            " ",
            step.inferred and step.outline != "page" and [h.span(".tag")["inferred"], " "],
            h.span(".small.muted")[_lines(step.lines, linked) if step.lines else plain(step.where)],
            h.code[plain(step.text)],
        ],
    ]


def _lines(lines: Sequence[int], linked: Collection[int]) -> h.Node:
    shown = list(dict.fromkeys(lines))[:MOST_LINES]
    more = len(lines) - len(shown)
    return [
        f"failure log, line{'' if len(lines) == 1 else 's'} ",
        ([", " if place else "", line_link(line, linked)] for place, line in enumerate(shown)),
        f" and {more} more" if more else "",
    ]


def line_link(line: int, linked: Collection[int]) -> h.Node:
    """To where it stands in the log."""
    return h.a(href=f"#log-{line}")[f"{line:,}"] if line in linked else f"{line:,}"


def _sign(outline: str, letter: str) -> Markup:
    """Our own letters alone."""
    size = 'viewBox="-1.3 -1.3 2.6 2.6" width="20" height="20"'
    inside = f'<text y=".45" font-size="1.3" text-anchor="middle">{letter}</text>' if letter else ""
    shape = f'<path d="{_OUTLINES[outline]}"/>{inside}'
    return Markup(f'<svg class="cause" {size} aria-hidden="true">{shape}</svg>')  # noqa: S704


def _legend(rows: Sequence[_Row]) -> h.Element:
    """Of the kinds that occur: their signs, each with the paper's name."""
    occurring = {row.step.classes.split()[0] for row in rows}
    guessed = any(row.step.inferred for row in rows)
    return h.p(".legend.small.muted")[
        guessed and [_line_key("ran then", ""), _line_key("inferred from the source", "4 3")],
        (
            h.span(class_=["key", kind.name.lower()])[_sign(outline, letter), " ", kind]
            for kind, (_, outline, letter) in _KINDS.items()
            if kind.name.lower() in occurring
        ),
    ]


def _line_key(words: str, dashes: str) -> h.Element:
    line = f'<path d="M0 6H28" stroke="currentColor" stroke-width="2" stroke-dasharray="{dashes}"/>'
    drawn = Markup(f'<svg viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">{line}</svg>')  # noqa: S704
    return h.span(".key")[drawn, " ", words]


def _notes(rows_left_out: int, without_chain: int) -> Iterator[str]:
    if rows_left_out:
        yield f"Not drawn: {rows_left_out:,} more steps"
    if without_chain:
        yield f"Not drawn: {count(without_chain, 'message')} that no known causal chain leads to"

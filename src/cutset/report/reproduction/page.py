"""A reproduced failure, to look at, for whoever is on call; in the dashboard as in the file that a search leaves.

In the order of the questions: what failed, where, when, why that is believed, how the log follows from it, what else
would look the same, what to do next. Logs and source are not to be trusted: they are text, never markup, and what is
very long is folded or left out, which the page says.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

import htpy as h

from cutset.model.reproduction.log import LogComparison, LogPart, LogRow
from cutset.model.reproduction.result import FailureMessage, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault
from cutset.model.wording import count
from cutset.report.page.components import command, note, verdict
from cutset.report.page.components import with_code as marked_code
from cutset.report.page.document import standalone
from cutset.report.reproduction.causal_graph import (
    causal_graph,
    highlights,
    kind_in_words,
    line_link,
    message_in_words,
    plain,
)
from cutset.report.reproduction.words import (
    LESS_ALIKE,
    advice,
    any_of,
    circumstances,
    conclusion,
    difference,
    differing_lines,
    differing_lines_left_out,
    effort,
    equally_good,
    evidence,
    excerpt,
    grade_in_words,
    inferred,
    inferred_in_words,
    less_alike,
    moment,
    next_commands,
    repeats,
    simplification,
    what_happened,
)

CONTEXT = 4  # rows of the logs around what is of interest
MOST_ROWS = 3_000  # of the logs on the page, and as many folded ones
MOST_LINES = 40  # of one entry of a log
MOST_MESSAGES = 200  # in the list
MOST_FRAMES = 40  # of a stack, the innermost
BESIDE = "replay"  # where a search leaves the script that replays, if it is beside the page

MessageNumbers = Mapping[FailureMessage, int]


def reproduction_page(result: ReproductionResult, logs: LogComparison | None, replay: str = BESIDE) -> str:
    """`logs` of the best reproduction, if there is one; `replay` is the folder of the script that replays."""
    return standalone(title_of(result), reproduction_body(result, logs, replay))


def title_of(result: ReproductionResult) -> str:
    grade = grade_in_words(result.grade)
    return f"{grade}: {_what(result.best)}" if result.best and result.reproduced else grade


def reproduction_body(result: ReproductionResult, logs: LogComparison | None, replay: str = BESIDE) -> h.Node:
    if result.best is None or not result.reproduced:
        return _nothing_found(result)
    return _found(result, result.best, logs, replay)


def _what(found: Reproduction) -> str:
    return ", and ".join(map(what_happened, found.faults))


def _nothing_found(result: ReproductionResult) -> h.Node:
    return [
        h.p[verdict(result.grade, grade_in_words(result.grade))],
        h.h1[_sentence(conclusion(result))],
        _search(result),
        result.best is not None and [h.h2["What was seen once"], h.p[_alternative(result.best)]],
        h.h2["How far the search got"],
        h.p[plain(result.summary)],
        h.h2["What may help"],
        h.ul[(h.li[with_code(each)] for each in advice(result.case))],
    ]


def _found(result: ReproductionResult, best: Reproduction, logs: LogComparison | None, replay: str) -> h.Node:
    several = len(best.faults) > 1
    return [
        h.p[verdict(result.grade, grade_in_words(result.grade)), f"  {repeats(best)}"],
        h.h1[with_code(_what(best))],
        _search(result),
        _conclusion(result, best),
        several and h.p["Two faults together, the second on top of the first."],
        (
            [
                h.h2[f"What failed{f': fault {number} of {len(best.faults)}' if several else ''}"],
                _fault(fault, best.messages, result.case.log_lines),
            ]
            for number, fault in enumerate(best.faults, start=1)
        ),
        h.h2["Why it is believed"],
        h.ul[(h.li[with_code(sentence)] for sentence in evidence(best, result))],
        _beside(best, logs),
        _others(result),
        h.h2["What to do next"],
        h.p[
            "In the folder of this page: see" if replay == BESIDE else "See",
            " it again, without a search; and a test that fails until it is fixed.",
        ],
        command("\n".join(next_commands(result, replay))),
    ]


def _conclusion(result: ReproductionResult, best: Reproduction) -> Iterator[h.Node]:
    """Before all else: what it is worth, what speaks against it, and what is as good."""
    lines, more = differing_lines(best.agreement), differing_lines_left_out(best)
    yield note(
        h.p[_sentence(conclusion(result))],
        lines
        and h.ul(".differences")[
            (h.li[h.b[f"{sign} {where}"], " ", h.code[plain(text)]] for sign, where, text in lines),
            more > 0 and h.li(".muted")[f"and {more:,} more"],
        ],
        kind=result.grade,
    )
    if alike := equally_good(result):
        yield h.h2[any_of(result)]
        yield h.ul[(h.li[_alternative(each)] for each in alike)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _search(result: ReproductionResult) -> h.Element:
    case = result.case
    return h.p(".muted")[
        h.code[plain(shlex.join(case.command))],
        h.br,
        f"looked for in {plain(', '.join(case.sources))}; {plain(effort(result))}; ",
        "oracle ",
        h.code[plain(case.oracle)],
    ]


def _fault(fault: FiredFault, messages: Sequence[FailureMessage], log_lines: int) -> Iterator[h.Node]:
    site = fault.site
    yield note(h.p[with_code(what_happened(fault))], h.p[with_code(circumstances(fault))], kind="failed")
    if fault.why:
        yield h.p(".muted")["Why this was tried: ", with_code(fault.why)]
    yield h.h2["Where"]
    yield h.p[h.code[f"{plain(site.path)}:{site.line}"], " in ", h.code[plain(f"{site.module}.{site.function}")]]
    lines = [
        h.span(class_={"site": is_site})[f"{'▸' if is_site else ' '}{number:>6}  {plain(text)}\n"]
        for number, text, is_site in excerpt(site)
    ]
    yield h.pre(tabindex="0")[lines] if lines else h.p(".muted")["Its source is not here to be shown."]
    yield _stack(fault.stack)
    yield h.h2["When"]
    yield h.p[f"It happened {plain(moment(fault, log_lines))}."]
    if fault.failure_line:
        yield _bar(fault.failure_line, messages, log_lines)


def _bar(fault_line: int, messages: Sequence[FailureMessage], length: int) -> h.Node:
    """The failure log from its first line to its last."""
    label = "The failure log from its first line to its last: the fault, and the messages to explain."
    return [
        h.div(".log-bar", role="img", aria_label=f"{label} The fault is at about line {fault_line} of {length}")[
            (
                _tick("" if message.shown else "lacking", message.line / length, f"line {message.line}: {message.text}")
                for message in messages[:MOST_MESSAGES]
                if not message.absent
            ),
            _tick("moment", fault_line / length, f"the fault, about line {fault_line}"),
        ],
        h.p(".small.muted")[label],
    ]


def _tick(kind: str, share: float, tooltip: str) -> h.Element:
    return h.i(class_=kind, style=f"left:{100 * share:.2f}%", title=plain(tooltip))


def _stack(stack: Sequence[str]) -> h.Node:
    outer = len(stack) - MOST_FRAMES
    frames = [f"… {outer:,} outer frames", *stack[-MOST_FRAMES:]] if outer > 0 else list(stack)
    return (
        stack
        and h.details(open=True)[
            h.summary["The stack at that moment, innermost frame last"],
            h.pre(tabindex="0")["\n".join(map(plain, frames))],
        ]
    )


def _beside(best: Reproduction, logs: LogComparison | None) -> h.Element:
    """How the log follows from the fault, and the log."""
    numbers = {message: number for number, message in enumerate(best.messages[:MOST_MESSAGES])}
    linked = {row.message.line for row in logs.rows if row.message} if logs else frozenset()
    return h.div(".beside")[
        highlights(len(numbers)),
        h.section(".follows")[
            h.h2["How the log follows from it"],
            causal_graph(best.faults, best.messages[:MOST_MESSAGES], linked),
            not best.messages and h.p["Nothing sets the failure log apart from good runs."],
            h.ul(".messages")[(_message(message, number, linked) for message, number in numbers.items())],
            len(best.messages) > len(numbers)
            and h.p(".muted")[f"and {len(best.messages) - len(numbers):,} more messages"],
        ],
        h.section(".logs")[
            h.h2["The failure log, and the log of the run that reproduced it"],
            _logs(best, logs, numbers) if logs else h.p(".muted")["The failure log is no longer there."],
        ],
    ]


def _message(message: FailureMessage, number: int, linked: Collection[int]) -> h.Element:
    return h.li(f"#message-{number}", class_=["chained", "shown" if message.shown else "lacking", f"m{number}"])[
        not message.absent and ["line ", line_link(message.line, linked), ": "],
        h.code[plain(message.text)],
        " ",
        h.span(".muted")[message_in_words(message)],
        h.br,
        h.details[
            h.summary[f"causal chain of {count(len(message.chain), 'step')}, {inferred_in_words(message.chain)}"],
            h.ol[
                (
                    h.li[
                        f"{'inferred: ' if is_inferred else ''}{kind_in_words(step.kind)}: ",
                        h.code[plain(step.text)],
                        " ",
                        h.span(".muted")[f"{plain(step.function)} · {plain(step.module)}:{step.line}"],
                    ]
                    for step, is_inferred in zip(message.chain, inferred(message.chain), strict=True)
                )
            ],
        ]
        if message.chain
        else h.span(".muted")["no causal chain to it is known"],
    ]


def _logs(best: Reproduction, logs: LogComparison, numbers: MessageNumbers) -> Iterator[h.Node]:
    if not logs.has_run:
        yield h.p(".muted")["The log of the run is no longer in ", h.code[plain(str(best.folder))], "."]
    for lines, name in ((logs.failure_left_out, "failure log"), (logs.run_left_out, "run's log")):
        if lines:
            yield h.p(".muted")[f"{lines:,} lines in the middle of the {name} are left out."]
    rows = logs.rows
    wanted = [row.message is not None or row.shows_message or bool(row.before) for row in rows]
    near = [any(wanted[max(0, number - CONTEXT) : number + CONTEXT + 1]) for number in range(len(rows))]
    room = {True: MOST_ROWS, False: MOST_ROWS}
    parts: list[h.Node] = []
    for is_near, numbered in groupby(zip(near, rows, strict=True), key=lambda pair: pair[0]):
        part = [row for _, row in numbered]
        kept = part[: max(0, room[is_near])]
        room[is_near] -= len(part)
        left_out = f", of which {len(part) - len(kept):,} are left out" if len(kept) < len(part) else ""
        entries = _entries(kept, numbers) if kept else None
        folded = h.details[h.summary[f"{len(part):,} entries without news{left_out}"], entries]
        parts.append(entries if is_near else folded)
    yield h.div(".log")[h.div(".heads", aria_hidden="true")[h.b["failure log"], h.b["reproducing run"]], parts]


def _entries(rows: Sequence[LogRow], numbers: MessageNumbers) -> h.Element:
    return h.table[
        h.caption(".visually-hidden")["Entries of the failure log and of the reproducing run"],
        h.thead(".visually-hidden")[h.tr[h.th(scope="col")["failure log"], h.th(scope="col")["reproducing run"]]],
        h.tbody[(_row(row, numbers) for row in rows)],
    ]


def _row(row: LogRow, numbers: MessageNumbers) -> Iterator[h.Element]:
    for fault in row.before:
        yield h.tr(".fired")[h.td(colspan="2")["⚡ about here: ", with_code(what_happened(fault))]]
    if row.failure is None and row.run is None:
        return
    message = row.message
    number = None if message is None else numbers.get(message)
    state = "" if message is None else "mark" if message.shown else "mark lacking"
    yield h.tr(
        id=f"log-{message.line}" if message else None,
        class_=["chained", f"m{number}"] if number is not None else None,
    )[
        _cell(row.failure, state, None if message is None else message.line, number),
        _cell(row.run, "mark" if row.shows_message else ""),
    ]


def _cell(part: LogPart | None, mark: str, to_line: int | None = None, message: int | None = None) -> h.Element:
    if part is None:
        return h.td(".nothing")
    line, more = f"{part.record.line}", len(part.lines) - MOST_LINES
    return h.td(class_=mark)[
        h.b[line if to_line is None else h.a(href=f"#log-{to_line}", title="how it follows from the fault")[line]],
        "\n".join(map(plain, part.lines[:MOST_LINES])),
        more > 0 and h.span(".muted")[f"\n… {more:,} more lines"],
        # Where the graph is not beside the log, but above it.
        message is not None and h.a(".to-chain", href=f"#message-{message}")["how it follows"],
    ]


def _others(result: ReproductionResult) -> Iterator[h.Node]:
    others = less_alike(result)
    if others:
        yield h.h2[LESS_ALIKE]
    for group, found in others:
        yield group and h.h3[with_code(group)]
        yield h.ul[(h.li[_alternative(each)] for each in found)]
    if simpler := simplification(result):
        yield h.h2["What was simplified"]
        yield h.ul[(h.li[with_code(each)] for each in simpler)]


def _alternative(found: Reproduction) -> Iterator[h.Node]:
    for place, fault in enumerate(found.faults):
        yield h.br if place else None
        yield with_code(what_happened(fault))
        yield [" at ", h.code[f"{plain(fault.site.path)}:{fault.site.line}"], " in "]
        yield [h.code[plain(fault.site.function)], ", ", with_code(circumstances(fault))]
    yield h.span(".muted")[f"; {difference(found)}; {repeats(found)}; round {found.round}"]


def with_code(text: str) -> list[h.Node]:
    return marked_code(plain(text))

"""A reproduced failure as one HTML page without scripts or anything from elsewhere, for whoever is on call.

In the order of the questions: what failed, where, when, why that is believed, how the log follows from it, what else
would look the same, what to do next. Logs and source are not to be trusted: all text is escaped, and what is very long
is folded or left out, which the page says.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cutset.model.reproduction.log import LogComparison, LogPart, LogRow
from cutset.model.reproduction.result import FailureMessage, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault
from cutset.model.wording import count, visible
from cutset.report.reproduction.causal_picture import draw_causes, kind_in_words, message_in_words, xml_text
from cutset.report.reproduction.terminal import (
    TEST,
    advice,
    alternatives_by_group,
    circumstances,
    evidence,
    excerpt,
    moment,
    simplification,
    what_happened,
)

CONTEXT = 4  # rows of the logs around what is of interest
MOST_ROWS = 3_000  # of the logs on the page, and as many folded ones
MOST_LINES = 40  # of one entry of a log
MOST_LETTERS = 600  # of one line
MOST_MESSAGES = 200  # in the list
MOST_FRAMES = 40  # of a stack, the innermost
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_STYLE = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1c2430;--muted:#5d6878;--line:#d5dbe3;--soft:#f6f8fa;--bad:#d92d20;
--bad-soft:#fdecea;--good:#1a7f37;--good-soft:#e6f6ea;--warn:#9a6700;--warn-soft:#fdf3dc;--link:#1f6feb}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#2b3442;--soft:#161d27;
--bad:#ff6b60;--bad-soft:#3a1715;--good:#4ac26b;--good-soft:#12301c;--warn:#d8a33a;--warn-soft:#2e2614;--link:#58a6ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px 28px 80px;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px;line-height:1.3;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:34px 0 8px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:15px;margin:18px 0 6px}
p{margin:6px 0}ul{margin:6px 0;padding-left:22px}li{overflow-wrap:anywhere}
code,pre,.log{font:12.5px/1.5 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:10px;overflow-x:auto;margin:8px 0}
code{overflow-wrap:anywhere;font-size:.88em}h1 code,.fact code{font-weight:700}
summary{cursor:pointer;color:var(--muted)}
.verdict{font-weight:700;color:var(--bad)}.unknown{color:var(--warn)}.muted{color:var(--muted)}
.fact{border-left:4px solid var(--bad);background:var(--soft);padding:8px 14px;margin:10px 0;border-radius:0 6px 6px 0}
.site{background:var(--bad-soft);font-weight:700}
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:10px 0}
.messages>li{margin:8px 0}.shown::marker{content:"✓ ";color:var(--good)}.lacking::marker{content:"– ";color:var(--warn)}
.log{border:1px solid var(--line);border-radius:6px;overflow:hidden}
.row{display:grid;grid-template-columns:1fr 1fr}
.row>div{padding:1px 8px 1px 62px;text-indent:-62px;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere}
.row>div+div{border-left:1px solid var(--line)}
.row .empty{background:var(--soft)}
.row b{display:inline-block;width:62px;padding-right:10px;text-align:right;text-indent:0;font-weight:400;
color:var(--muted);user-select:none}
.row .mark{background:var(--good-soft);box-shadow:inset 3px 0 var(--good)}
.row .mark.lacking{background:var(--warn-soft);box-shadow:inset 3px 0 var(--warn)}
.heads{font-weight:700;background:var(--soft);border-bottom:1px solid var(--line)}
.row.heads>div{padding:5px 10px;text-indent:0}
.timeline{position:relative;height:18px;margin:10px 0;background:var(--soft);border:1px solid var(--line)}
.timeline i{position:absolute;top:0;bottom:0;width:3px;margin-left:-1px;background:var(--good)}
.timeline i.lacking{background:var(--warn)}.timeline i.moment{top:-6px;bottom:-6px;width:4px;background:var(--bad)}
.fired{background:var(--bad-soft);color:var(--bad);font-weight:700;padding:3px 10px;overflow-wrap:anywhere}
.log summary{padding:3px 10px;background:var(--soft)}
"""


def to_page(result: ReproductionResult, logs: LogComparison | None) -> str:
    """`logs` of the best reproduction, if there is one."""
    title, body = _found(result, result.best, logs) if result.best is not None else _nothing_found(result)
    page = "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
            *body,
            "</body></html>\n",
        ]
    )
    return visible(page)


def _nothing_found(result: ReproductionResult) -> tuple[str, Iterator[str]]:
    def body() -> Iterator[str]:
        yield '<p class="verdict unknown">Not reproduced</p><h1>No fault was found that shows the symptom</h1>'
        yield _search(result)
        yield "<h2>How far the search got</h2>"
        yield f"<p>{_text(result.summary)}</p>"
        yield "<h2>What may help</h2>"
        yield _list(map(_with_code, advice(result.case)))

    return "Not reproduced", body()


def _found(result: ReproductionResult, best: Reproduction, logs: LogComparison | None) -> tuple[str, Iterator[str]]:
    title = ", and ".join(map(what_happened, best.faults))

    def body() -> Iterator[str]:
        yield f'<p class="verdict">Reproduced</p><h1>{_with_code(title)}</h1>'
        yield _search(result)
        if len(best.faults) > 1:
            yield "<p>Two faults together, the second on top of the first.</p>"
        for number, fault in enumerate(best.faults, start=1):
            yield f"<h2>What failed{f': fault {number} of {len(best.faults)}' if len(best.faults) > 1 else ''}</h2>"
            yield from _fault(fault, best.messages, result.case.log_lines)
        yield "<h2>Why it is believed</h2>"
        yield _list(_with_code(sentence) for sentence in evidence(best, result))
        yield from _consequences(best)
        if logs is not None:
            yield from _logs(best, logs)
        yield from _others(result)
        yield from _next()

    return f"Reproduced: {title}", body()


def _search(result: ReproductionResult) -> str:
    case = result.case
    command = shlex.join(case.command)
    return (
        f'<p class="muted"><code>{_text(command)}</code><br>looked for in {_text(", ".join(case.sources))}; '
        f"{count(result.rounds, 'round')}, {result.seconds:,.0f} s; oracle <code>{_text(case.oracle)}</code></p>"
    )


def _fault(fault: FiredFault, messages: Sequence[FailureMessage], log_lines: int) -> Iterator[str]:
    site = fault.site
    yield f'<div class="fact"><p>{_with_code(what_happened(fault))}</p><p>{_text(circumstances(fault))}</p></div>'
    if fault.why:
        yield f'<p class="muted">Why this was tried: {_with_code(fault.why)}</p>'
    yield "<h2>Where</h2>"
    function = f"{site.module}.{site.function}"
    yield f"<p><code>{_text(site.path)}:{site.line}</code> in <code>{_text(function)}</code></p>"
    lines = [
        f"<span{' class=site' * is_site}>{'▸' if is_site else ' '}{number:>6}  {_text(_bounded(text))}</span>"
        for number, text, is_site in excerpt(site)
    ]
    yield f"<pre>{chr(10).join(lines)}</pre>" if lines else '<p class="muted">The source is no longer there.</p>'
    yield from _stack(fault.stack)
    yield "<h2>When</h2>"
    yield f"<p>It happened {_text(moment(fault, log_lines))}.</p>"
    if fault.failure_line:
        yield _timeline(fault.failure_line, messages, log_lines)


def _timeline(fault_line: int, messages: Sequence[FailureMessage], length: int) -> str:
    """The failure log from its first line to its last, as a bar."""
    ticks = [
        _tick("" if message.shown else "lacking", message.line / length, f"line {message.line}: {message.text}")
        for message in messages[:MOST_MESSAGES]
        if not message.absent
    ]
    ticks.append(_tick("moment", fault_line / length, f"the fault, about line {fault_line}"))
    return (
        f'<div class="timeline">{"".join(ticks)}</div>'
        '<p class="muted">The failure log from its first line to its last: the fault, and the messages to explain.</p>'
    )


def _tick(kind: str, share: float, tooltip: str) -> str:
    return f'<i class="{kind}" style="left:{100 * share:.2f}%" title="{_text(_bounded(tooltip))}"></i>'


def _stack(stack: Sequence[str]) -> Iterator[str]:
    if stack:
        outer = len(stack) - MOST_FRAMES
        frames = [f"… {outer:,} outer frames", *stack[-MOST_FRAMES:]] if outer > 0 else list(stack)
        yield "<details open><summary>The stack at that moment, innermost frame last</summary>"
        yield f"<pre>{_text(chr(10).join(map(_bounded, frames)))}</pre></details>"


def _consequences(best: Reproduction) -> Iterator[str]:
    yield "<h2>How the log follows from it</h2>"
    if picture := draw_causes(best.faults, best.messages):
        yield f'<div class="picture">{picture}</div>'
    if not best.messages:
        yield "<p>Nothing sets the failure log apart from good runs.</p>"
    yield '<ul class="messages">'
    for message in best.messages[:MOST_MESSAGES]:
        yield _message(message)
    yield "</ul>"
    if (more := len(best.messages) - MOST_MESSAGES) > 0:
        yield f'<p class="muted">and {more:,} more messages</p>'


def _message(message: FailureMessage) -> str:
    where = "" if message.absent else f"line {message.line:,}: "
    steps = "".join(
        f"<li>{kind_in_words(node.kind)}: <code>{_text(_bounded(node.text))}</code> "
        f'<span class="muted">{_text(node.function)} · {_text(node.module)}:{node.line}</span></li>'
        for node in message.chain
    )
    chain = (
        f"<details><summary>causal chain of {count(len(message.chain), 'step')}</summary><ol>{steps}</ol></details>"
        if steps
        else '<span class="muted">no causal chain to it is known</span>'
    )
    state = "shown" if message.shown else "lacking"
    text = f"{where}<code>{_text(_bounded(message.text))}</code>"
    return f'<li class="{state}">{text} <span class="muted">{message_in_words(message)}</span><br>{chain}</li>'


def _logs(best: Reproduction, logs: LogComparison) -> Iterator[str]:
    yield "<h2>The failure log, and the log of the run that reproduced it</h2>"
    if not logs.has_run:
        yield f'<p class="muted">The log of the run is no longer in <code>{_text(str(best.folder))}</code>.</p>'
    for lines, name in ((logs.failure_left_out, "failure log"), (logs.run_left_out, "run's log")):
        if lines:
            yield f'<p class="muted">{lines:,} lines in the middle of the {name} are left out.</p>'
    rows = logs.rows
    wanted = [row.message is not None or row.shows_message or bool(row.before) for row in rows]
    near = [any(wanted[max(0, number - CONTEXT) : number + CONTEXT + 1]) for number in range(len(rows))]
    room = {True: MOST_ROWS, False: MOST_ROWS}
    yield '<div class="log"><div class="row heads"><div>failure log</div><div>reproducing run</div></div>'
    for is_near, numbered in groupby(zip(near, rows, strict=True), key=lambda pair: pair[0]):
        part = [row for _, row in numbered]
        kept = part[: max(0, room[is_near])]
        room[is_near] -= len(part)
        if is_near:
            yield from map(_row, kept)
            continue
        left_out = f", of which {len(part) - len(kept):,} are left out" if len(kept) < len(part) else ""
        yield f"<details><summary>{len(part):,} entries without news{left_out}</summary>"
        yield from map(_row, kept)
        yield "</details>"
    yield "</div>"


def _row(row: LogRow) -> str:
    fired = "".join(
        f'<div class="fired">⚡ about here: {_with_code(what_happened(fault))}</div>' for fault in row.before
    )
    if row.failure is None and row.run is None:
        return fired
    state = "" if row.message is None else "mark" if row.message.shown else "mark lacking"
    cells = _cell(row.failure, state) + _cell(row.run, "mark" * row.shows_message)
    return f'{fired}<div class="row">{cells}</div>'


def _cell(part: LogPart | None, mark: str) -> str:
    if part is None:
        return '<div class="empty"></div>'
    lines = [_text(_bounded(line)) for line in part.lines[:MOST_LINES]]
    if (more := len(part.lines) - MOST_LINES) > 0:
        lines.append(f'<span class="muted">… {more:,} more lines</span>')
    return f'<div class="{mark}"><b>{part.record.line}</b>{chr(10).join(lines)}</div>'


def _others(result: ReproductionResult) -> Iterator[str]:
    if result.alternatives:
        yield "<h2>What else shows the same symptom</h2>"
    for group, found in alternatives_by_group(result):
        yield f"<h3>{_with_code(group or 'Other causes')}</h3>"
        yield _list(_alternative(each) for each in found)
    if simpler := simplification(result):
        yield "<h2>What was simplified</h2>"
        yield _list(map(_with_code, simpler))


def _alternative(found: Reproduction) -> str:
    faults = "<br>".join(
        f"{_with_code(what_happened(fault))} at <code>{_text(fault.site.path)}:{fault.site.line}</code> "
        f"in <code>{_text(fault.site.function)}</code>, {_text(circumstances(fault))}"
        for fault in found.faults
    )
    again = f"; {found.repeated} of {found.repeats} repeats" if found.repeats else ""
    return f'{faults} <span class="muted">round {found.round}{again}</span>'


def _next() -> Iterator[str]:
    yield "<h2>What to do next</h2>"
    yield "<p>In the folder of this page: see it again, without a search; and a test that fails until it is fixed.</p>"
    yield f"<pre>python replay/replay.py\npytest replay/{TEST}</pre>"


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _bounded(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}… ({len(text) - MOST_LETTERS:,} more)"


def _with_code(text: str) -> str:
    """Between backticks is code."""
    parts = _text(_bounded(text)).split("`")
    if len(parts) % 2 == 0:  # one of them is part of the text
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _text(text: str) -> str:
    """Colours of terminals go away."""
    return xml_text(_ANSI.sub("", text).replace("\t", "    "))

"""An impact as one HTML page without scripts or anything from elsewhere, in the order of the questions.

What was done and is it bad; can it be believed; how bad for which API; where in the system; when; which requests; with
which settings. Names come from traces and configurations, and nobody has checked them: all text is escaped.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from cutset.model.impact import ApiImpact, ApiVerdict, Group, Impact, ImpactEvent, WindowEnded, WindowStarted
from cutset.model.wording import count, visible
from cutset.report.drawing.text import escaped
from cutset.report.impact.columns import impact_timelines
from cutset.report.impact.graph import draw_impact_graph
from cutset.report.impact.links import trace_link
from cutset.report.impact.style import STYLE
from cutset.report.impact.table import api_table, css_class
from cutset.report.impact.timeline import draw_impact_timeline
from cutset.report.impact.wording import (
    SIGNS,
    advice,
    attempts_in_words,
    is_amplified,
    matching_in_words,
    population,
    recovery_in_words,
    shares_in_words,
    slower_in_words,
    user_in_words,
    what_was_done,
)

TIMELINES_OPEN = 6  # the worst; the others are folded
MOST_TIMELINES = 60
MOST_TRACES = 20  # of one API; the document has all that are kept
WORST_FIRST = (ApiVerdict.AFFECTED, ApiVerdict.CANNOT_TELL, ApiVerdict.RESILIENT)


def impact_page(impact: Impact, events: Sequence[ImpactEvent], links: str = "", repeat: str = "") -> str:
    """Of the events of this run. `links` says where traces are, `repeat` is the command that does the same again."""
    title = f"Impact: {what_was_done(impact.started)}"
    page = "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escaped(title)}</title><style>{STYLE}</style></head><body>",
            *_headline(impact, events),
            *_warnings(impact),
            *_numbers(impact),
            "<h2>Upstream APIs</h2>",
            *api_table(impact),
            *_next(impact, repeat),
            *_graph(impact),
            *_timelines(impact, events),
            *_traces(impact, links),
            *_settings(impact, events),
            "</body></html>\n",
        ]
    )
    return visible(page)


def _headline(impact: Impact, events: Sequence[ImpactEvent]) -> Iterator[str]:
    begun = next((event.at for event in events if isinstance(event, WindowStarted)), None)
    when = f"{datetime.fromtimestamp(begun, UTC):%Y-%m-%d %H:%M:%S} UTC · " if begun is not None else ""
    by = f" · by {escaped(impact.started.by)}" if impact.started.by else ""
    yield f'<header class="{css_class(impact.verdict)}">'
    yield f'<p class="verdict"><b class="sign">{SIGNS[impact.verdict]}</b> {_conclusion(impact)}</p>'
    yield f"<h1>{_with_code(what_was_done(impact.started))}</h1>"
    yield f'<p class="muted">{when}run <code>{escaped(impact.run)}</code>{by}</p></header>'


def _conclusion(impact: Impact) -> str:
    """`2 of 4 APIs upstream are affected`."""
    if not impact.apis:
        return "Cannot tell: nothing upstream of the fault was seen"
    number, of = sum(api.verdict is impact.verdict for api in impact.apis), len(impact.apis)
    which = "the only API upstream is" if of == 1 else f"{number} of {of} APIs upstream {_is(number)}"
    return {
        ApiVerdict.AFFECTED: f"Affected: {which} affected",
        ApiVerdict.CANNOT_TELL: f"Cannot tell yet: {which} undecided, none is known to be affected",
        ApiVerdict.RESILIENT: f"Resilient: {which} not affected",
    }[impact.verdict]


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _warnings(impact: Impact) -> Iterator[str]:
    if impact.guard is not None:
        yield f'<div class="note bad"><b>! Stopped by <code>{escaped(impact.guard.guard)}</code>:</b> '
        yield f"{escaped(impact.guard.reason)}</div>"
    if not impact.finished:
        yield '<div class="note"><b>! Unfinished:</b> this is what is known so far.</div>'
    for problem in impact.problems:
        yield f'<div class="note"><b>! Doubtful:</b> {_with_code(problem)}</div>'


def _numbers(impact: Impact) -> Iterator[str]:
    failed, others = impact.others_failed
    hurt = sum(api.fault.failed for api in impact.apis if api.is_entry)
    tiles = [
        (f"{impact.marked.get(Group.FAULT, 0):,}", "requests with the fault"),
        (f"{impact.marked.get(Group.CONTROL, 0):,}", "control requests"),
        (f"{impact.faulted:,}", "attempts faulted"),
        (f"{hurt:,}", "requests with the fault failed for their user"),
        (f"{failed:,}", f"of {others:,} unmarked requests failed meanwhile"),
    ]
    yield '<dl class="tiles">'
    yield from (f"<div><dt>{text}</dt><dd>{number}</dd></div>" for number, text in tiles)
    yield "</dl>"


def _next(impact: Impact, repeat: str) -> Iterator[str]:
    yield "<h2>What to do next</h2>"
    yield _list(map(_with_code, advice(impact)))
    notes = [
        f"<code>{escaped(str(api.api))}</code>: {escaped(note)}" for api in impact.apis for note in _api_notes(api)
    ]
    if notes:
        yield f"<h3>Also seen</h3>{_list(notes)}"
    if repeat:
        yield f"<h3>Again</h3><pre>{escaped(repeat)}</pre>"


def _api_notes(api: ApiImpact) -> Iterator[str]:
    if recovery := recovery_in_words(api):
        yield recovery
    if api.slower is not None and api.slower.low > 0:
        yield slower_in_words(api.slower)
    if is_amplified(api):
        yield f"{attempts_in_words(api)} attempts per request"


def _graph(impact: Impact) -> Iterator[str]:
    if impact.callers:
        yield "<h2>Where it shows</h2>"
        yield f'<div class="picture graph">{draw_impact_graph(impact)}</div>'


def _timelines(impact: Impact, events: Sequence[ImpactEvent]) -> Iterator[str]:
    apis = sorted(impact.apis, key=lambda api: (WORST_FIRST.index(api.verdict), -api.difference))
    wanted = [api.api for api in (*apis, *impact.target)]
    timelines = impact_timelines(wanted, events)
    if not timelines:
        return
    yield "<h2>Over time</h2>"
    for number, timeline in enumerate(timelines[:MOST_TIMELINES]):
        if number == TIMELINES_OPEN:
            yield f"<details><summary>{count(len(timelines) - number, 'more API')}</summary>"
        yield f'<div class="picture">{draw_impact_timeline(timeline)}</div>'
    if len(timelines) > TIMELINES_OPEN:
        left_out = len(timelines) - MOST_TIMELINES
        yield f'<p class="muted">{count(left_out, "API")} not drawn</p></details>' if left_out > 0 else "</details>"


def _traces(impact: Impact, links: str) -> Iterator[str]:
    failing = [api for api in impact.apis if api.fault.failed_traces]
    if not failing:
        return
    yield "<h2>Failed requests with the fault</h2>"
    for api in failing:
        shown = api.fault.failed_traces[:MOST_TRACES]
        more = f", the first {len(shown)}" if api.fault.failed > len(shown) else ""
        yield f"<details{' open' * (api is failing[0])}><summary><code>{escaped(str(api.api))}</code> "
        yield f'<span class="muted">{count(api.fault.failed, "failed request")}{more}</span></summary>'
        yield f'<ul class="traces">{"".join(f"<li>{_trace(trace, links)}</li>" for trace in shown)}</ul></details>'


def _trace(trace: str, links: str) -> str:
    link = trace_link(links, trace)
    text = f"<code>{escaped(trace)}</code>"
    return f'<a href="{escaped(link)}" rel="noreferrer">{text}</a>' if link else text


def _settings(impact: Impact, events: Sequence[ImpactEvent]) -> Iterator[str]:
    started = impact.started
    rows = [
        ("Fault", ", ".join(f"`{fault}`" for fault in sorted(started.cut))),
        ("Requests", population(started)),
        ("Marked if", matching_in_words(started.matching) or "any request"),
        ("Users told apart", user_in_words(started.user)),
        ("Share", f"{shares_in_words(started.shares)} with the fault, as many again as control"),
        ("Windows", ", ".join(f"{window} {seconds:g} s" for window, seconds in started.seconds.items())),
        ("Chance of a false alarm", f"at most {100 * started.alpha:.3g} % over all APIs and looks"),
        ("Resilient below", f"{100 * started.margin:.3g} points more failures"),
    ]
    if started.workflow:
        rows.append(("Workflow", f"{started.workflow}"))
    rows += [
        (f"Not seen, {group}", f"{number:,} marked requests sent no span in time")
        for group, number in impact.not_seen.items()
        if number
    ]
    ended = [event for event in events if isinstance(event, WindowEnded) and event.reason]
    rows += [(f"Why {event.window} ended", event.reason) for event in ended]
    yield '<h2>Settings</h2><dl class="settings">'
    yield from (f"<dt>{escaped(name)}</dt><dd>{_with_code(value)}</dd>" for name, value in rows)
    yield "</dl>"


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _with_code(text: str) -> str:
    """Between backticks is code."""
    parts = escaped(text).split("`")
    if len(parts) % 2 == 0:  # one of them is part of the text
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))

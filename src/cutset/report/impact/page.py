"""An impact, to look at, in the order of the questions; in the dashboard as in a file by itself.

What was done and is it bad; can it be believed; how bad for which API; where in the system; when; which requests; with
which settings. Names come from traces and configurations, and nobody has checked them: they are text, never markup.
"""

from collections.abc import Iterator, Sequence

import htpy as h

from cutset.model.impact import ApiImpact, ApiVerdict, Group, Impact, ImpactEvent, WindowEnded, WindowStarted
from cutset.model.wording import count
from cutset.report.impact.columns import impact_timelines
from cutset.report.impact.graph import draw_impact_graph
from cutset.report.impact.links import trace_link
from cutset.report.impact.table import api_table
from cutset.report.impact.timeline import draw_impact_timeline
from cutset.report.impact.wording import (
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
from cutset.report.page.components import (
    bounded,
    code,
    command,
    css_class,
    facts,
    note,
    tiles,
    verdict,
    when,
    with_code,
)
from cutset.report.page.document import drawing, standalone

TIMELINES_OPEN = 6  # the worst; the others are folded
MOST_TIMELINES = 60
MOST_TRACES = 20  # of one API; the document has all that are kept
WORST_FIRST = (ApiVerdict.AFFECTED, ApiVerdict.CANNOT_TELL, ApiVerdict.RESILIENT)


def impact_page(impact: Impact, events: Sequence[ImpactEvent], links: str = "", repeat: str = "") -> str:
    return standalone(f"Impact: {what_was_done(impact.started)}", impact_body(impact, events, links, repeat))


def impact_body(impact: Impact, events: Sequence[ImpactEvent], links: str = "", repeat: str = "") -> h.Node:
    """Of the events of this run. `links` says where traces are, `repeat` is the command that does the same again."""
    return [
        _headline(impact, events),
        _warnings(impact),
        _numbers(impact),
        h.h2["Upstream APIs"],
        api_table(impact),
        _next(impact, repeat),
        _graph(impact),
        _timelines(impact, events),
        _traces(impact, links),
        _settings(impact, events),
    ]


def _headline(impact: Impact, events: Sequence[ImpactEvent]) -> h.Element:
    begun = next((event.at for event in events if isinstance(event, WindowStarted)), None)
    return h.header(class_=["conclusion", css_class(impact.verdict)])[
        h.p[verdict(impact.verdict, conclusion(impact))],
        h.h1[with_code(bounded(what_was_done(impact.started)))],
        h.p(".muted")[
            begun is not None and [when(begun), " · "],
            "run ",
            code(impact.run),
            impact.started.by and f" · by {bounded(impact.started.by)}",
        ],
    ]


def conclusion(impact: Impact) -> str:
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


def _warnings(impact: Impact) -> Iterator[h.Element]:
    if impact.guard is not None:
        stopped = h.b["! Stopped by ", code(impact.guard.guard), ":"]
        yield note(stopped, " ", bounded(impact.guard.reason), kind="failed")
    if not impact.finished:
        yield note(h.b["! Unfinished:"], " this is what is known so far.", kind="degraded")
    for problem in impact.problems:
        yield note(h.b["! Doubtful:"], " ", with_code(bounded(problem)), kind="degraded")


def _numbers(impact: Impact) -> h.Element:
    failed, others = impact.others_failed
    hurt = sum(api.fault.failed for api in impact.apis if api.is_entry)
    return tiles(
        [
            (f"{impact.marked.get(Group.FAULT, 0):,}", "requests with the fault"),
            (f"{impact.marked.get(Group.CONTROL, 0):,}", "control requests"),
            (f"{impact.faulted:,}", "attempts faulted"),
            (f"{hurt:,}", "requests with the fault failed for their user"),
            (f"{failed:,}", f"of {others:,} unmarked requests failed meanwhile"),
        ]
    )


def _next(impact: Impact, repeat: str) -> Iterator[h.Node]:
    yield h.h2["What to do next"]
    yield h.ul[(h.li[with_code(each)] for each in advice(impact))]
    notes = [(api, note) for api in impact.apis for note in _api_notes(api)]
    if notes:
        yield h.h3["Also seen"]
        yield h.ul[(h.li[code(str(api.api)), f": {note}"] for api, note in notes)]
    if repeat:
        yield h.h3["Again"]
        yield command(repeat)


def _api_notes(api: ApiImpact) -> Iterator[str]:
    if recovery := recovery_in_words(api):
        yield recovery
    if api.slower is not None and api.slower.low > 0:
        yield slower_in_words(api.slower)
    if is_amplified(api):
        yield f"{attempts_in_words(api)} attempts per request"


def _graph(impact: Impact) -> Iterator[h.Node]:
    if impact.callers:
        yield h.h2["Where it shows"]
        label = "Who calls what the fault was at, and how far upstream it shows: the table has the same in numbers"
        yield drawing(draw_impact_graph(impact), label=label, wide=True)


def _timelines(impact: Impact, events: Sequence[ImpactEvent]) -> Iterator[h.Node]:
    apis = sorted(impact.apis, key=lambda api: (WORST_FIRST.index(api.verdict), -api.difference))
    timelines = impact_timelines([api.api for api in (*apis, *impact.target)], events)
    if not timelines:
        return
    pictures = [
        drawing(
            draw_impact_timeline(timeline),
            label=bounded(f"{timeline.api}: success rate and latency over time, by group"),
            wide=True,
        )
        for timeline in timelines[:MOST_TIMELINES]
    ]
    yield h.h2["Over time"]
    yield pictures[:TIMELINES_OPEN]
    if len(timelines) > TIMELINES_OPEN:
        left_out = len(timelines) - MOST_TIMELINES
        yield h.details[
            h.summary[count(len(timelines) - TIMELINES_OPEN, "more API")],
            pictures[TIMELINES_OPEN:],
            left_out > 0 and h.p(".muted")[f"{count(left_out, 'API')} not drawn"],
        ]


def _traces(impact: Impact, links: str) -> Iterator[h.Node]:
    failing = [api for api in impact.apis if api.fault.failed_traces]
    if not failing:
        return
    yield h.h2["Failed requests with the fault"]
    for api in failing:
        shown = api.fault.failed_traces[:MOST_TRACES]
        more = f", the first {len(shown)}" if api.fault.failed > len(shown) else ""
        yield h.details(open=api is failing[0])[
            h.summary[code(str(api.api)), " ", h.span(".muted")[f"{count(api.fault.failed, 'failed request')}{more}"]],
            h.ul(".trace-ids")[(h.li[_trace(trace, links)] for trace in shown)],
        ]


def _trace(trace: str, links: str) -> h.Element:
    link = trace_link(links, trace)
    return h.a(href=link, rel="noreferrer")[code(trace)] if link else code(trace)


def _settings(impact: Impact, events: Sequence[ImpactEvent]) -> Iterator[h.Node]:
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
    yield h.h2["Settings"]
    yield facts((name, with_code(bounded(value))) for name, value in rows)

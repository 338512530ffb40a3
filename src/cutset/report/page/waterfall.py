"""Traces as waterfalls, several beside each other on one scale of time: who called whom, how long it took, what failed.

A list, so that it can be read aloud: each call says what it was answered, how long it took and which fault happened to
it; the bars repeat that for the eye. What services tell of the same calls is there, too, for whoever asks for it.
"""

from collections.abc import Iterator, Mapping, Sequence

import htpy as h

from cutset.model.evidence import EvidenceKept, KeptSpan
from cutset.model.wording import count
from cutset.report.page.components import note

DEEPEST = 10  # levels that are indented: names of what is deeper must have room as well


def waterfalls(traces: Sequence[tuple[str, EvidenceKept]]) -> h.Element:
    """Each with its title."""
    scale = max((span.start + span.duration for _, each in traces for span in each.spans), default=0)
    told = sum(not span.is_call for _, each in traces for span in each.spans)
    return h.div(".traces")[
        told > 0
        and h.label(".no-print")[
            h.input(".all-spans", type="checkbox"),
            f" Also what services tell of these calls: {count(told, 'more span')}",
        ],
        h.div(".columns")[[_waterfall(title, each, scale) for title, each in traces]],
    ]


def in_milliseconds(microseconds: int) -> str:
    milliseconds = microseconds / 1000
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 100 else f"{milliseconds:.3g} ms"


def _waterfall(title: str, kept: EvidenceKept, scale: int) -> h.Element:
    return h.div[
        h.h3[title],
        h.p(".small.muted")["Trace ", h.code[kept.trace_id]],
        h.div(".scale", aria_hidden="true")[[h.span[in_milliseconds(part)] for part in (0, scale // 2, scale)]],
        h.ol(".waterfall")[[_span(span, depth, scale) for span, depth in in_order(kept.spans)]]
        if kept.spans
        else note("No span of it was kept."),
        kept.left_out > 0 and h.p(".small.muted")[f"Not kept: {count(kept.left_out, 'later span')}"],
        bool(kept.spans and kept.cut and not any(span.fault for span in kept.spans))
        and note("The span that tells of the fault is not among those that were kept."),
    ]


def in_order(spans: Sequence[KeptSpan]) -> Iterator[tuple[KeptSpan, int]]:
    """Each after the call that it is part of, with the number of calls around it; the parts of a call by time."""
    by_id = {span.id: span for span in spans}
    parts: dict[str, list[KeptSpan]] = {}
    for span in spans:
        parts.setdefault(_call_around(span, by_id), []).append(span)
    seen: set[str] = set()
    # Malformed traces may hold a cycle of parents, which no root leads to: whatever is left begins anew.
    for first in (*parts.get("", ()), *spans):
        pending = [(first, 0)]
        while pending:
            span, depth = pending.pop()
            if span.id in seen:
                continue
            seen.add(span.id)
            yield span, depth
            if span.is_call:
                pending += [(each, depth + 1) for each in reversed(parts.get(span.id, ()))]


def _call_around(span: KeptSpan, by_id: Mapping[str, KeptSpan]) -> str:
    """Through whatever services tell in between; empty: none."""
    passed = {span.id}
    around = by_id.get(span.parent)
    while around is not None and not around.is_call and around.id not in passed:
        passed.add(around.id)
        around = by_id.get(around.parent)
    return around.id if around is not None and around.is_call else ""


def _span(span: KeptSpan, depth: int, scale: int) -> h.Element:
    left, width = (100 * each / max(scale, 1) for each in (span.start, span.duration))
    return h.li(
        class_=[not span.is_call and "told", span.error and "error", span.fault and "fired"],
        style=f"--depth: {min(depth, DEEPEST)}",
    )[
        h.div(".label")[
            h.span[h.b[span.service], " ", span.name, span.fault and [" ", h.strong[f"✗ {span.fault}"]]],
            h.span(".number")[_answered(span), h.b[in_milliseconds(span.duration)]],
        ],
        h.span(".visually-hidden")[f"began after {in_milliseconds(span.start)}"],
        h.div(".lane", aria_hidden="true")[h.span(style=f"left: {left:.2f}%; width: {width:.2f}%")],
    ]


def _answered(span: KeptSpan) -> str:
    """`503 failed`; of what went well only a status that means something."""
    status = {"0": "no answer", "failed": "", "ok": "", "grpc 0": ""}.get(span.status, span.status)
    words = [status, "failed" if span.error else ""]
    return " ".join(filter(None, words)) + (" · " if any(words) else "")

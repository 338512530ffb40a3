"""Parts of the service graph's page: what fails in one's mind, what becomes of each request, the list of all calls."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import htpy as h
from markupsafe import Markup

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut, Fault, format_cut
from cutset.model.finding import Finding
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.explanation import ExplainedRequest
from cutset.report.campaign.terminal import describe_cut
from cutset.report.drawing.point_graph import (
    SAMPLE,
    Marks,
    PlacedGraph,
    PointGraph,
    PointRow,
    RowAt,
    RowMark,
    legend_items,
)
from cutset.report.page.components import SIGNS, bounded, code, facts, note, verdict, when, with_code

CUTS_SHOWN = 12  # that are offered to look at
CALM_SHOWN = 2  # requests that are not affected: more of them are folded away
FORM = "graph-form"
_WORST_FIRST = (Verdict.FAILED, Verdict.UNKNOWN, Verdict.DEGRADED, Verdict.SURVIVED)


@dataclass(frozen=True, slots=True)
class Question:
    """What the page's address asks: of which campaign, of all requests or one, with what failing."""

    campaign: str
    request: str = ""
    cut: Cut = frozenset()

    @property
    def address(self) -> str:
        return self.with_cut(self.cut)

    def with_cut(self, cut: Cut) -> str:
        asked = [("campaign", self.campaign), *([("request", self.request)] if self.request else [])]
        return f"/graph?{urlencode([*asked, *(('cut', str(fault)) for fault in sorted(cut))])}"


def legend(graph: PointGraph, marks: Marks) -> h.Element:
    """Of what occurs in the picture, and nothing else."""
    return h.ul(".graph-legend.small")[
        (
            h.li[
                h.svg(".point-graph", width=SAMPLE, height=18, viewBox=f"0 -9 {SAMPLE} 18", aria_hidden="true")[
                    Markup(sample)  # noqa: S704 -- drawn by us
                ],
                words,
            ]
            for sample, words in legend_items(graph, marks)
        )
    ]


def list_of_points(placed: PlacedGraph, marks: Marks) -> h.Element:
    """For who has no mouse, no picture or no room for one: each call as a box to check."""
    boxes = [(number, box) for number, box in enumerate(placed.graph.boxes) if not box.entry and box.rows]
    return h.div("#graph-points.graph-points")[
        (
            h.fieldset[
                h.legend[bounded(box.name)],
                (_choice(row, RowAt(number, at), marks) for at, row in enumerate(box.rows)),
            ]
            for number, box in boxes
        )
    ]


def _choice(row: PointRow, at: RowAt, marks: Marks) -> h.Element:
    mark = marks.rows.get(at, RowMark("", "·"))
    said = [
        h.span(class_=["sign", mark.look.replace(" ", "-")], aria_hidden="true")[mark.sign],
        h.span[bounded(row.label), h.span(".visually-hidden")[f", {bounded(mark.words)}" if mark.words else ""]],
    ]
    if not row.is_button:
        return h.p(title=bounded(mark.words))[said]
    checkbox = h.input(type="checkbox", name="cut", value=row.name, form=FORM, checked=at in marks.failing)
    return h.label(title=bounded(mark.words))[checkbox, said]


def said_of(answers: Sequence[ExplainedRequest], cut: Cut) -> str:
    """One sentence, to be read out."""
    if not cut:
        return "Nothing fails."
    if len(answers) == 1:
        return f"{answers[0].request}: {_VERBS[answers[0].verdict]}."
    told = [
        f"{_VERBS[each]}: {number}"
        for each in _WORST_FIRST
        if (number := sum(answer.verdict is each for answer in answers))
    ]
    return f"Of {count(len(answers), 'request class')}, {', '.join(told)}."


_VERBS = {
    Verdict.FAILED: "fails",
    Verdict.SURVIVED: "survives",
    Verdict.DEGRADED: "degraded",
    Verdict.UNKNOWN: "not known",
}


def failing_list(question: Question, effects: EffectChoice) -> h.Node:
    """What fails, each with the effect by which it does, and a way to make it work again."""
    if not question.cut:
        return None
    return [
        h.ul(".graph-failing")[(_failing(fault, question, effects) for fault in sorted(question.cut))],
        h.p(".small")[h.a(href=question.with_cut(frozenset()), data_cut="")["All work again"]],
    ]


def _failing(fault: Fault, question: Question, effects: EffectChoice) -> h.Element:
    point = str(fault.point)
    choices = list(dict.fromkeys((*effects.at(fault.point), fault.effect)))
    chosen = (
        h.select(name="effect", form=FORM, aria_label=f"How {bounded(point)} fails", data_point=point)[
            (
                h.option(value=str(Fault(fault.point, effect)), selected=effect == fault.effect)[str(effect)]
                for effect in choices
            )
        ]
        if len(choices) > 1
        else h.span(".muted.small")[str(fault.effect)]
    )
    return h.li(data_fault=str(fault), data_point=point)[
        code(point),
        " ",
        chosen,
        " ",
        h.a(href=question.with_cut(question.cut - {fault}), data_cut="", aria_label=f"{bounded(point)} works again")[
            "works again"
        ],
    ]


def answer(each: ExplainedRequest, question: Question, trial: h.Node = None) -> h.Element:
    """What becomes of one request, and how that is known."""
    explanation, proof = each.explanation, each.explanation.because
    rows: list[tuple[str, h.Node]] = []
    if proof is not None:
        rows.append(("experiment", [verdict(proof.verdict), " ", code(describe_cut(proof.cut) or "no fault")]))
        rows.append(
            ("the user sees" if proof.verdict is not Verdict.UNKNOWN else "reason", with_code(bounded(proof.reason)))
        )
    if each.by_hand_at is not None:
        rows.append(("tried by hand", ["at ", when(each.by_hand_at), ", after the campaign"]))
    if proof is not None and proof.trace_ids:
        rows.append(("traces", [h.code(".graph-trace")[trace] for trace in proof.trace_ids]))
    if (finding := each.finding) is not None:
        is_it = "this is the finding" if finding.cut == each.cut else "contains the finding"
        link = h.a(href=f"/campaigns/{question.campaign}/findings/{finding.id}")[code(finding.id)]
        rows.append((is_it, [link, " ", code(describe_cut(finding.cut))]))
    return h.article(class_=["graph-answer", each.verdict], data_request=each.request, data_verdict=each.verdict)[
        h.h3[verdict(each.verdict), " ", bounded(each.request)],
        h.p[with_code(explanation.reason)],
        facts(rows) if rows else None,
        trial,
    ]


def answers_list(answers: Iterable[ExplainedRequest], question: Question, trials: Mapping[str, h.Node]) -> h.Node:
    """The worst first; those that are not affected in few lines, unless they are what was asked for."""
    ordered = sorted(answers, key=lambda each: _WORST_FIRST.index(each.verdict))
    shown = [answer(each, question, trials.get(each.request)) for each in ordered]
    calm = sum(each.verdict is Verdict.SURVIVED for each in ordered)
    if question.request or calm <= CALM_SHOWN:
        return shown
    return [
        *shown[: len(ordered) - calm],
        h.details[
            h.summary[verdict(Verdict.SURVIVED), f" {count(calm, 'request class')}"], shown[len(ordered) - calm :]
        ],
    ]


def cuts_to_look_at(findings: Sequence[Finding], question: Question, effects: EffectChoice) -> h.Node:
    """Where to begin: the smallest first, and those that fail most requests."""
    requests: dict[Cut, list[str]] = defaultdict(list)
    for finding in findings:
        requests[finding.cut].append(finding.request)
    cuts = sorted(requests, key=lambda cut: (len(cut), -len(requests[cut]), format_cut(cut)))
    if not cuts:
        return None
    return [
        h.h3["Cuts that were found"],
        h.ul(".graph-cuts")[
            (
                h.li[
                    h.a(href=question.with_cut(cut), data_cut="")[bounded(describe_cut(cut, effects))],
                    None if question.request else h.span(".muted.small")[f" {_some(requests[cut])}"],
                ]
                for cut in cuts[:CUTS_SHOWN]
            )
        ],
        len(cuts) > CUTS_SHOWN and h.p(".small.muted")[f"and {count(len(cuts) - CUTS_SHOWN, 'more cut')}"],
    ]


def _some(names: Sequence[str]) -> str:
    more = f" and {count(len(names) - 1, 'more request')}" if len(names) > 1 else ""
    return f"{bounded(names[0])}{more}"


def marks_of_answers(answers: Iterable[ExplainedRequest]) -> dict[str, RowMark]:
    """What the picture says of requests."""
    return {each.request: RowMark(each.verdict, *SIGNS[each.verdict]) for each in answers}


def trial_form(each: ExplainedRequest, question: Question) -> h.Element:
    """One experiment that would tell."""
    hidden = [("campaign", question.campaign), ("request", each.request), ("shown", question.request)]
    hidden += [("cut", str(fault)) for fault in sorted(each.cut)]
    return h.form(".graph-trial", method="post", action="/graph/trial")[
        (h.input(type="hidden", name=name, value=value) for name, value in hidden),
        h.button(".primary", type="submit")["Try it"],
        h.span(".small.muted")[" one experiment, a few requests of our own"],
    ]


def could_not_be_tried(problem: str, hint: str) -> h.Element:
    return note(h.p[with_code(bounded(problem))], hint and h.p(".small")[with_code(hint)], kind="unknown")


def under_way(what: str) -> h.Element:
    return note(h.p[h.span(".graph-busy", aria_hidden="true"), f"Under way: {what}"])

"""What each effect at a call does to a request, which it survives, which not, and why, as far as that shows."""

from collections.abc import Iterator
from typing import Any

from cutset.model.finding import Finding
from cutset.model.summary import RequestSummary
from cutset.model.toleration import EffectToleration, PointToleration, Toleration

_TOLD_ELSEWHERE = ({Toleration.FATAL}, {Toleration.NOT_TRIED})
IMPOSSIBLE = "none of the effects is possible there"
_VERBS = {
    Toleration.TOLERATED: "survives",
    Toleration.DEGRADED: "is answered in part with",
    Toleration.FATAL: "fails with",
    Toleration.UNKNOWN: "not known with",
    Toleration.NOT_TRIED: "not tried alone with",
}


def rows(request: RequestSummary) -> list[PointToleration]:
    """Of the calls at which several effects were to be tried: those first at which it depends on the effect.

    Where all of them are fatal, findings say so. What is called only when something else failed was not tried alone.
    """
    several = [each for each in request.tolerations if len(each.effects) > 1]
    telling = [each for each in several if {one.toleration for one in each.effects} not in _TOLD_ELSEWHERE]
    return sorted(telling, key=lambda each: not each.is_telling)


def sentence(each: PointToleration) -> str:
    """`survives abort(503); fails with timeout (no timeout at checkout/PlaceOrder: waited for 10.0 s)`."""
    groups = ((verb, each.those(toleration)) for toleration, verb in _VERBS.items())
    return "; ".join(f"{verb} {', '.join(map(effect_in_words, group))}" for verb, group in groups if group)


def otherwise(finding: Finding, request: RequestSummary) -> Iterator[str]:
    """What other effects do at the calls of a finding, each alone."""
    injected = {fault.point: fault.effect for fault in finding.cut}
    for each in request.tolerations:
        own = injected.get(each.point)
        others = tuple(other for other in each.effects if other.effect != own)
        if own is not None and others:
            yield f"{each.point} {sentence(PointToleration(each.point, others))}"


def why_alone(finding: Finding, request: RequestSummary) -> str:
    """Why one fault is enough; empty if nothing shows it, or if several are needed."""
    (fault, *more) = finding.cut
    if more:
        return ""
    at_point = (each.effects for each in request.tolerations if each.point == fault.point)
    return next((each.why for effects in at_point for each in effects if each.effect == fault.effect), "")


def to_documents(request: RequestSummary) -> list[dict[str, Any]]:
    return [
        {
            "point": str(each.point),
            "effects": [
                {"effect": str(one.effect), "toleration": one.toleration.value, "why": one.why} for one in each.effects
            ],
        }
        for each in request.tolerations
    ]


def verb(toleration: Toleration) -> str:
    return _VERBS[toleration]


def effect_in_words(each: EffectToleration) -> str:
    return f"{each.effect} ({each.why})" if each.why else str(each.effect)

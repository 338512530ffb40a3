"""What the user named, as faults at points that requests were seen to call: `payment/Charge`, `payment:timeout`."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from cutset.app.impact_learning import KnownCalls
from cutset.errors import InputError, UsageError
from cutset.impact.settings import ImpactSettings
from cutset.inject.plan import ANY_API
from cutset.model.effect import Effect
from cutset.model.fault import Cut, Fault
from cutset.model.point import Point
from cutset.model.wording import did_you_mean, known_names, sentences

MOST_NAMED = 12  # of what is known, in a message

_SERVICE = re.compile(r"(?P<service>[^/:#]+)(?P<replica>#[^/:]+)?(?P<effect>:.*)?")


def faults_named(texts: Sequence[str], settings: ImpactSettings) -> tuple[Fault, ...]:
    """As they are written. The effect and the rate are those of the settings where the text has none of its own."""
    return tuple(_fault(text, settings) for text in texts)


def cut_of_named(faults: Sequence[Fault], known: KnownCalls) -> Cut:
    """Raises UsageError for what nobody was seen to call, and for what nothing is upstream of."""
    found = frozenset(each for fault in faults for each in _called(fault, known))
    points = [fault.point for fault in found]
    if len(set(points)) < len(points):
        twice = next(point for point in points if points.count(point) > 1)
        raise UsageError(f"`{twice}` is named with two effects", hint="A fault is one effect at a point")
    return found


def is_known(fault: Fault, known: KnownCalls) -> bool:
    return bool(_points(fault.point, known.all))


def _fault(text: str, settings: ImpactSettings) -> Fault:
    whole = _SERVICE.fullmatch(text.strip())
    if whole:
        text = f"{whole['service']}/{ANY_API}{whole['replica'] or ''}{whole['effect'] or ''}"
    fault = Fault.parse(text)
    if whole and fault.point.api != ANY_API:  # what follows a service can only be an effect
        Effect.parse(whole["effect"].removeprefix(":"))
    effect = Effect.parse(settings.effect) if _has_no_effect(text, fault) else fault.effect
    return replace(fault, effect=effect, percent=settings.rate if fault.percent == 100 else fault.percent)


def _has_no_effect(text: str, fault: Fault) -> bool:
    try:
        return Point.parse(text.strip()) == fault.point
    except InputError:  # an effect after what a name cannot be followed by
        return False


def _called(fault: Fault, known: KnownCalls) -> Iterator[Fault]:
    points = _points(fault.point, known.all)
    if not points:
        names = {str(each) for each in known.calls} | {each.service for each in known.calls if not each.caller}
        name = _shown(fault.point)
        shown = sorted(map(str, known.calls))
        more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
        raise UsageError(
            f"No request was seen to call `{name}`",
            hint=sentences(did_you_mean(name, names), f"{known_names(shown[:MOST_NAMED])}{more}"),
        )
    if {each.of_api for each in _matching(fault.point, known.all)} <= known.entries - known.calls:
        raise UsageError(
            f"`{_shown(fault.point)}` is what users call, so that nothing is upstream of it",
            hint=known_names(sorted(map(str, known.calls))[:MOST_NAMED]),
        )
    yield from (replace(fault, point=point) for point in points)


def _points(wanted: Point, known: Collection[Point]) -> list[Point]:
    """A whole service is one point, unless it is what an agent calls so: its endpoints are points of their own."""
    matching = _matching(wanted, known)
    if wanted.api == ANY_API and wanted.caller:
        return matching
    return [wanted] if matching else []


def _matching(wanted: Point, known: Collection[Point]) -> list[Point]:
    if wanted.api == ANY_API:
        return [each for each in known if (each.service, each.caller) == (wanted.service, wanted.caller)]
    if wanted.is_endpoint and not wanted.peer:
        return [
            each
            for each in known
            if each.is_endpoint and (each.caller, each.endpoint) == (wanted.caller, wanted.endpoint)
        ]
    return [each for each in known if each == wanted.of_api]


def _shown(point: Point) -> str:
    caller = f"{point.caller}>" if point.caller else ""
    return f"{caller}{point.service}" if point.api == ANY_API else str(point)

"""Where to inject (CAST §3.4.2): endpoints, and what is left of them after pruning.

An endpoint is (component, framework, method): the same operation through another library fails in another way and is
handled by other code. Methods of services are those of one service: that two have a `GET /health` makes them no
endpoint in common. Services that share a library share its handling of failures, so that a few of them stand for
all; and within one trace the last call of an endpoint finds the system in its most advanced state.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cutset.model.call_tree import UNKNOWN_CALLER, CallTree, Component, calls_inside, occurrences
from cutset.model.point import Point
from cutset.model.survey import Survey
from cutset.select.complexity import most_complex_first

_OPERATIONS = frozenset({Component.DATABASE, Component.CACHE, Component.QUEUE})


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    component: Component
    framework: str
    method: str
    service: str = ""  # whose method it is; of data stores and queues it does not matter

    def __str__(self) -> str:
        of_service = f"{self.service}/" if self.service else ""
        return f"{self.component}/{self.framework or 'unknown'}/{of_service}{self.method}"


@dataclass(frozen=True, slots=True, order=True)
class InjectionTarget:
    """One place to inject at: an endpoint as one service calls it, in a trace that shows it."""

    endpoint: Endpoint
    point: Point  # with its caller; the last occurrence where there are several
    request_class: str


@dataclass(frozen=True, slots=True)
class EndpointChoice:
    used: Mapping[Endpoint, Mapping[str, int]]  # how often which service called it; "" where that is not known
    targets: Sequence[InjectionTarget]
    trace_ids: Mapping[str, str]  # of the trace that shows a request class


def choose_endpoints(survey: Survey, *, classes: int, services_each: int, rng: random.Random) -> EndpointChoice:
    """Targets within so many of the most complex request classes."""
    used: dict[Endpoint, dict[str, int]] = {}
    for (endpoint, service), calls in sorted(endpoints(survey.kinds).items()):
        used.setdefault(endpoint, {})[service] = calls
    shown = {name: summary.representative for name, summary in most_complex_first(survey.classes)[:classes]}
    calls_of = {name: representative.calls for name, representative in shown.items()}
    targets = injection_targets(calls_of, services_each=services_each, rng=rng)
    return EndpointChoice(used, targets, {name: representative.trace_id for name, representative in shown.items()})


def endpoint_of(call: CallTree) -> Endpoint:
    """Of data stores and queues the operation alone: on which table or topic does not change how a library fails."""
    if call.component in _OPERATIONS:
        return Endpoint(call.component, call.framework, call.point.api.partition(" ")[0])
    return Endpoint(call.component, call.framework, call.point.api, call.point.service)


def endpoints(kinds: Mapping[CallTree, int]) -> Counter[tuple[Endpoint, str]]:
    """How often each service called each endpoint."""
    counts: Counter[tuple[Endpoint, str]] = Counter()
    for caller, traces in occurrences(kinds, calls_inside).items():
        for callee in caller.calls:
            counts[endpoint_of(callee), caller.point.service] += traces
        for orphan in caller.known_orphans:
            counts[endpoint_of(orphan), UNKNOWN_CALLER.service] += traces
    return counts


def injection_targets(
    representatives: Mapping[str, Sequence[tuple[str, CallTree]]], *, services_each: int, rng: random.Random
) -> list[InjectionTarget]:
    """Of the classes' most complex traces, given as their calls in order, each with the service that made it.

    Each endpoint in at most so many services, and there only its last call.
    """
    shown: dict[Endpoint, dict[str, InjectionTarget]] = {}
    for name, calls in sorted(representatives.items()):
        times = Counter((caller, call.point) for caller, call in calls)
        last = {(endpoint_of(call), caller): call.point for caller, call in calls}
        for (endpoint, caller), point in last.items():
            occurrence = "last" if times[caller, point] > 1 else ""
            target = InjectionTarget(endpoint, replace(point, caller=caller, occurrence=occurrence), name)
            shown.setdefault(endpoint, {}).setdefault(caller, target)
    chosen: list[InjectionTarget] = []
    for _, by_service in sorted(shown.items()):
        services = sorted(by_service)
        if len(services) > services_each:
            services = sorted(rng.sample(services, services_each))
        chosen.extend(by_service[service] for service in services)
    return chosen

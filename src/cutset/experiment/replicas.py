"""Replicas that change their names with each rollout, by numbers that stay: `cart#2` is a replica of cart, whichever.

A pod that takes the place of another gets its number. What was learned of a number holds for its successor as what was
learned of an API holds after a rollout; experiments during which pods change are void (`cutset.experiment.pods`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from cutset.model.fault import Cut
from cutset.model.point import Point
from cutset.model.span import Span

_SERVICE, _REPLICA, _POD = "cutset.service", "cutset.replica", "cutset.pod"


@dataclass(slots=True)
class ReplicaNumbers:
    _pods: dict[str, dict[str, str]] = field(default_factory=dict)  # by service, by number: the pod

    @property
    def counts(self) -> dict[str, int]:
        return {service: len(pods) for service, pods in self._pods.items()}

    def update(self, pods: Mapping[str, Collection[str]]) -> None:
        """What runs now, by service. New ones take the lowest numbers that are free.

        So does one that came before another went, as in a rollout: there are as many numbers as replicas.
        """
        for service, names in pods.items():
            numbers = [str(number) for number in range(1, len(names) + 1)]
            known = self._pods.get(service, {})
            kept = {number: known[number] for number in numbers if known.get(number) in names}
            free = (number for number in numbers if number not in kept)
            new = sorted(set(names) - set(kept.values()))
            self._pods[service] = kept | dict(zip(free, new, strict=False))

    def planned(self, cut: Cut) -> Cut:
        """As sidecars know themselves. A replica that is not there stays a number, which nobody is called."""
        return frozenset(replace(fault, point=self._named(fault.point)) for fault in cut)

    def known(self, points: Iterable[Point]) -> frozenset[Point]:
        return frozenset(map(self._named, points))

    def seen(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """What sidecars say of themselves, by numbers. Of calls that no plan came with they tell their pod alone."""
        known = {pod: (service, number) for service, pods in self._pods.items() for number, pod in pods.items()}
        return tuple(_numbered(span, known) for span in spans)

    def _named(self, point: Point) -> Point:
        pod = self._pods.get(point.service, {}).get(point.replica)
        return replace(point, replica=pod) if pod else point


def _numbered(span: Span, known: Mapping[str, tuple[str, str]]) -> Span:
    told = span.attributes
    found = known.get(str(told.get(_REPLICA) or told.get(_POD)))
    if found is None:
        return span
    return replace(span, attributes={**told, _SERVICE: told.get(_SERVICE, found[0]), _REPLICA: found[1]})

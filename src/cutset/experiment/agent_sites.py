"""What is known of agents' call sites: what their peers are called, and which of them the mesh sees as well.

Grows with each trace. A call that no sidecar told of goes to a third party, or the sidecar's span was lost: one trace
does not tell, so that it takes two which agree, and none that says otherwise.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cutset.lineage.agent_calls import mesh_sides_of, unseen_sites
from cutset.lineage.agent_spans import call_site_of, is_agent_call
from cutset.model.call_site import AgentCallSite, call_site_at
from cutset.model.fault import Cut
from cutset.model.point import Point
from cutset.model.span import Span

TRACES_TO_BELIEVE = 2
_PEER = "cutset.peer"
_SAME = {"localhost": "127.0.0.1", "[::1]": "127.0.0.1", "::1": "127.0.0.1"}


@dataclass(slots=True)
class AgentSites:
    names: Mapping[str, str] = field(default_factory=dict)  # of data stores and third parties, by address
    sides: dict[AgentCallSite, Point] = field(default_factory=dict)  # seen by the mesh too: the caller's side
    _unseen: Counter[AgentCallSite] = field(default_factory=Counter)
    _addressed: dict[AgentCallSite, set[str]] = field(default_factory=dict)  # by named site: peers as agents say

    @property
    def beyond(self) -> frozenset[AgentCallSite]:
        """Where calls go past the mesh."""
        return frozenset(
            site for site, traces in self._unseen.items() if traces >= TRACES_TO_BELIEVE and site not in self.sides
        )

    def learn(self, spans: Sequence[Span], root_id: str) -> None:
        """From one whole trace."""
        self.sides |= mesh_sides_of(spans, root_id)
        self._unseen.update(unseen_sites(spans, root_id))

    def named(self, spans: Sequence[Span]) -> Sequence[Span]:
        """With peers as points call them."""
        if not any(is_agent_call(span) and _PEER in span.attributes for span in spans):
            return spans
        return tuple(self._named(span) if is_agent_call(span) else span for span in spans)

    def targets(self, cut: Cut, catalogue: Collection[Point]) -> dict[Point, tuple[AgentCallSite, ...]]:
        """Of points with a caller, what their agents look up in a plan."""
        points = {fault.point for fault in cut} | set(catalogue)
        return {point: tuple(sorted(self._sites(point))) for point in points if point.caller}

    def _sites(self, point: Point) -> Iterator[AgentCallSite]:
        sites = [site for site, side in self.sides.items() if side == point]
        if point.is_endpoint:
            sites = [call_site_at(point)]
        for site in sites:
            peers = self._addressed.get(site) or set(self._addresses(site.peer))
            yield from (replace(site, peer=peer) for peer in peers)

    def _named(self, span: Span) -> Span:
        peer = str(span.attributes.get(_PEER, ""))
        name = self._name(peer)
        named = replace(span, attributes={**span.attributes, _PEER: name}) if name != peer else span
        self._addressed.setdefault(call_site_of(named), set()).add(peer)
        return named

    def _name(self, peer: str) -> str:
        address, slash, rest = peer.partition("/")
        host, colon, port = address.rpartition(":")
        for known in (address, f"{_SAME.get(host, host)}{colon}{port}", _SAME.get(address, address)):
            if name := self.names.get(known):
                return f"{name}{slash}{rest}"
        return peer

    def _addresses(self, peer: str) -> list[str]:
        """Of a peer that was not seen yet, by its name."""
        name, slash, rest = peer.partition("/")
        return [f"{address}{slash}{rest}" for address, known in self.names.items() if known == name] or [peer]

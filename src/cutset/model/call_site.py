"""Where an agent acts, and how plans address it: `service|endpoint|peer`."""

from dataclasses import dataclass

from cutset.model.point import Point


@dataclass(frozen=True, slots=True, order=True)
class AgentCallSite:
    """Where an agent acts, as plans address it."""

    service: str
    endpoint: str  # component/framework/method
    peer: str = ""  # where the call went; empty: wherever

    @property
    def is_remote(self) -> bool:
        """Of another service, which a sidecar may be in front of."""
        return self.endpoint.startswith("rpc/")

    @property
    def api(self) -> str:
        """As the callee's sidecar would name it."""
        return self.endpoint.split("/", 2)[-1]

    @property
    def point(self) -> Point:
        component, _, rest = self.endpoint.partition("/")
        return Point(component, f"{rest} {self.peer}" if self.peer else rest, caller=self.service)


def call_site_at(point: Point) -> AgentCallSite:
    """Of an endpoint's point: `payment>rpc/httpx/POST /v1/charges api.example.com`."""
    return AgentCallSite(point.caller, point.endpoint, point.peer)

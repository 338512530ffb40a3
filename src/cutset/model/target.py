"""The system under test, and where its spans arrive."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cutset.model.expect import Name, Port, Seconds, Url

_STANDARD_PORTS = {"http": 80, "https": 443}


# What names the trace and holds the plan, in the headers of whichever tracers services have. Those that know several of
# them find the same in each, and those that know none of ours hand on what they know.
CARRIERS = ("tracestate", "baggage", "jaeger", "datadog", "b3")


@dataclass(frozen=True, slots=True)
class Target:
    url: str  # where experiments enter: inside the mesh, behind the edge that strips plans
    environment: str = "local"  # part of every signature
    carriers: tuple[str, ...] = CARRIERS
    health: tuple[str, ...] = ()  # servers that must still accept connections after each failure
    names: Mapping[str, str] = field(default_factory=dict, hash=False)  # by address, what people call a server
    stores: Mapping[str, str] = field(default_factory=dict, hash=False)  # likewise data stores, brokers, third parties

    @property
    def entry(self) -> str:
        """As `host:port`."""
        parts = urlsplit(self.url)
        port = parts.port or _STANDARD_PORTS.get(parts.scheme, 0)
        return f"[{parts.hostname}]:{port}" if ":" in (parts.hostname or "") else f"{parts.hostname}:{port}"

    @property
    def servers(self) -> tuple[str, ...]:
        """All that must accept connections: where experiments enter, and what serves them."""
        return tuple(dict.fromkeys((self.entry, *self.health)))

    def named(self, address: str) -> str:
        name = self.names.get(address) or ("the entry" if address == self.entry else "")
        return f"{name} at {address}" if name else address


@dataclass(frozen=True, slots=True)
class OtherPorts:
    """Where clients of Jaeger and Zipkin send their spans; none: not received there."""

    jaeger_compact_port: int | None = None  # UDP
    jaeger_binary_port: int | None = None  # UDP
    jaeger_http_port: int | None = None
    zipkin_port: int | None = None


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where we listen for the spans of services and sidecars, or ask for them."""

    host: Name = "127.0.0.1"
    http_port: Port = 4318
    grpc_port: Port = 4317
    export_interval: Seconds = 5.0  # how long services and sidecars may hold spans back; OpenTelemetry's default
    # Where clients of Jaeger and Zipkin send their spans, unless they are told otherwise; none: not received there.
    jaeger_compact_port: Port | None = 6831  # UDP
    jaeger_binary_port: Port | None = 6832  # UDP
    jaeger_http_port: Port | None = 14268
    zipkin_port: Port | None = 9411
    # A server of the team's own to which all spans go already: nothing is listened on then.
    jaeger: Url | None = None
    tempo: Url | None = None

    @property
    def server(self) -> str:
        """As `jaeger+http://host:16686`; empty: spans are sent to us."""
        return f"jaeger+{self.jaeger}" if self.jaeger else f"tempo+{self.tempo}" if self.tempo else ""

    @property
    def others(self) -> OtherPorts:
        return OtherPorts(self.jaeger_compact_port, self.jaeger_binary_port, self.jaeger_http_port, self.zipkin_port)

"""The system under test, and where its spans arrive."""

from dataclasses import dataclass

from cutset.model.expect import Name, Port, Seconds


@dataclass(frozen=True, slots=True)
class Target:
    url: str  # where experiments enter: inside the mesh, behind the edge that strips plans
    environment: str = "local"  # part of every signature
    carriers: tuple[str, ...] = ("tracestate", "baggage")
    health: tuple[str, ...] = ()  # servers that must still accept connections after each failure


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where we listen for the spans of services and sidecars."""

    host: Name = "127.0.0.1"
    http_port: Port = 4318
    grpc_port: Port = 4317
    export_interval: Seconds = 5.0  # how long services and sidecars may hold spans back; OpenTelemetry's default

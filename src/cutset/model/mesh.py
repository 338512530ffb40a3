"""A mesh on this machine: its services, where they are, and how calls to them are treated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutset.model.impact import UserKey

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class MeshService:
    name: str
    protocol: str  # "http" | "grpc"
    replicas: tuple[str, ...]  # host:port; they are called "1", "2", … in points and spans
    port: int = 0  # of the outbound listener; 0: any free one
    retries: int | None = None  # None: as many as there are other replicas
    timeout_seconds: float | None = None  # of a call with all its retries; None: callers decide how long they wait
    outlier_detection: bool = False
    retry_budget_percent: float | None = None  # of the requests under way, as many may be retries; None: no limit
    hedge_after_seconds: float | None = None  # without an answer by then, another replica is asked as well
    max_parallel: int | None = None  # calls under way; more are refused at once. None: no limit
    fallback: Mapping[str, str] = field(default_factory=dict, hash=False)  # by API: what `stand_in.Fallback` answers


@dataclass(frozen=True, slots=True)
class MeshSpec:
    services: tuple[MeshService, ...]
    entry: str = ""  # the service that users call
    edge_port: int = 0
    admin_port: int = 0
    marking_port: int = 0  # where the edge asks Cutset for marks; 0: any free one
    users: UserKey = field(default_factory=UserKey)  # by what the edge tells users apart: then shares are of users
    environment: str = "local"
    collector: str = ""  # host:port of an OTLP/gRPC receiver; "": no tracing
    workers: int = 1
    filters: bool = True  # False: a mesh that cannot inject, to compare with
    first_filters: Mapping[str, Json] = field(default_factory=dict, hash=False)  # by service: before all others
    stand_in: str = ""  # host:port of the proxy of `stand_in`, for services with a fallback

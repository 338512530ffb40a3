"""A recorded request and its answer (CAST §3.2), and the operations that the service made for it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the service to something else while it served a request."""

    endpoint: str  # component/framework/method, as in `cache/redis/get`
    occurrence: int  # 1 for the first at this endpoint within the request
    started_at: float  # Unix seconds
    seconds: float
    failed: bool
    request: bytes = field(default=b"", repr=False)  # payload, possibly cut short; empty if it was not recorded
    response: bytes = field(default=b"", repr=False)
    timeout: float | None = None  # seconds, of the call site; None: it has none, or it is not known
    peer: str = ""  # where it went, `sessions:6379/0`; empty: not known
    peer_occurrence: int = 0  # 1 for the first at this endpoint that went there


@dataclass(frozen=True, slots=True)
class Exchange:
    id: str  # unique
    service: str
    trace_id: str
    started_at: float  # Unix seconds
    seconds: float
    method: str
    path: str  # with its query
    request_headers: tuple[tuple[str, str], ...]
    request_body: bytes = field(repr=False)
    status: int = 0
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = field(default=b"", repr=False)
    truncated: bool = False  # a body was longer than the limit
    operations: tuple[Operation, ...] = ()

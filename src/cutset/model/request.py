"""A request under test: what to send, what must happen before it, and what counts as an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """One HTTP request. `{session}` in the path, a header or the body stands for a fresh value per experiment."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    form: Mapping[str, str] | None = field(default=None, hash=False)
    json: object = field(default=None, hash=False)
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """MicroFI §4.4.5: the three rules that tell a failure from an answer; and what an answer must say."""

    status: tuple[int, ...] = ()  # acceptable statuses; empty: those of the baseline
    keywords: tuple[str, ...] = ()  # words that betray a failure in the body of a 200
    max_seconds: float = 10.0
    text: tuple[str, ...] = ()  # must be in what the user sees
    json: Mapping[str, object] = field(default_factory=dict, hash=False)  # path -> value: `order.total`, `items[].id`


@dataclass(frozen=True, slots=True)
class Request:
    name: str  # the request class, as in reports: `POST /cart/checkout`
    step: Step
    setup: tuple[Step, ...] = ()  # sent first, in the same session, without faults
    expect: Expectation = Expectation()


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. `error` says why nothing did."""

    status: int = 0
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    error: str = ""
    sent: bool = True  # False: there was nobody to send it to, so that it left no trace

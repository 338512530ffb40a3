"""What one request of an experiment was answered, and how its calls went: kept for whoever wants to see it.

A verdict needs none of this. Answers hold what users see, which may be personal: they are bounded, stay in the ledger,
which its owner alone can read, and can be left out (`keep_answers: false`).
"""

from dataclasses import dataclass

from cutset.model.fault import Cut
from cutset.model.span import SpanKind

MOST_ANSWER = 65_536  # characters of an answer that are kept
MOST_SPANS = 400  # of one request


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    status: int  # 0: there was none
    content_type: str
    text: str  # as far as it is text
    length: int  # of the body, in bytes
    seconds: float
    error: str = ""  # why there was none

    @property
    def is_whole(self) -> bool:
        return len(self.text.encode()) >= self.length


@dataclass(frozen=True, slots=True)
class KeptSpan:
    id: str
    parent: str  # "" for a root, or one whose parent is not there
    service: str
    name: str
    kind: SpanKind
    start: int  # microseconds since the first one began
    duration: int  # microseconds
    error: bool = False
    status: str = ""  # `503`, `grpc 14`, as its caller saw it
    fault: str = ""  # the one that happened here, as reports write it


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceKept:
    """Of one request that failed or was degraded, or, with an empty cut, of one without a fault.

    Recorded before the outcome that its trace is the evidence of.
    """

    request: str
    cut: Cut
    trace_id: str
    answer: KeptAnswer | None = None  # None: nobody wanted it kept
    spans: tuple[KeptSpan, ...] = ()  # in the order of their beginning
    left_out: int = 0  # spans beyond the limit

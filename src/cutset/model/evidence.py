"""What one request of an experiment was answered, and how its calls went: kept for whoever wants to see it.

A verdict needs none of this. Answers hold what users see, which may be personal: they are bounded, stay in the ledger,
which its owner alone can read, and can be left out (`keep_answers: false`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.fault import BASELINE, Cut
from cutset.model.span import SpanKind

MOST_ANSWER = 65_536  # characters of an answer that are kept
MOST_SPANS = 400  # of one request
LONGEST_NAME = 200  # characters of a service, a span or a status


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    status: int  # 0: there was none
    content_type: str
    text: str  # "": it is none, as a picture is not, or there is nothing in it
    length: int  # of the body, in bytes
    seconds: float
    left_out: int = 0  # characters beyond the limit
    error: str = ""  # why there was none

    @property
    def is_text(self) -> bool:
        return bool(self.text) or not self.length


class Teller(StrEnum):
    """Who tells of a span: each call is told of once by the mesh or by an agent, and perhaps again by services."""

    MESH = "mesh"  # a call as the callee's sidecar saw it
    AGENT = "agent"  # a call that no sidecar saw, of a data store or a third party
    SERVICE = "service"  # whatever else services say, or their agents


@dataclass(frozen=True, slots=True)
class KeptSpan:
    id: str
    parent: str  # "" for a root, or one whose parent is not there
    teller: Teller
    service: str
    name: str
    kind: SpanKind
    start: int  # microseconds since the first one began
    duration: int  # microseconds
    error: bool = False
    status: str = ""  # `503`, `grpc 14`, as its caller saw it
    fault: str = ""  # the one that happened here, as reports write it

    @property
    def is_call(self) -> bool:
        """Else it is what a service says of a call, or of itself."""
        return self.teller is not Teller.SERVICE or bool(self.fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceKept:
    """Of one request that failed or was degraded, or, with an empty cut, of one without a fault.

    Recorded before the outcome or the audit that its trace is evidence of.
    """

    request: str
    cut: Cut
    trace_id: str
    answer: KeptAnswer | None = None  # None: nobody wanted it kept
    spans: tuple[KeptSpan, ...] = ()  # in the order of their beginning
    left_out: int = 0  # spans beyond the limit


def evidence_of(events: Iterable[object], request: str, cut: Cut = BASELINE) -> EvidenceKept | None:
    """What was kept last of a request with this cut; None: nothing was, as before there was evidence."""
    found = None
    for event in events:
        if isinstance(event, EvidenceKept) and (event.request, event.cut) == (request, cut):
            found = event
    return found

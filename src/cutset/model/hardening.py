"""What happens when a hardening is tried on the running system, in the order in which it counts.

The ledger keeps these; resuming reads them, and does what is still missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cutset.model.finding import Finding
from cutset.model.mesh import MeshService
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished, RunStarted


@dataclass(frozen=True, slots=True)
class Latency:
    """How long calls took, in seconds."""

    calls: int
    median: float
    p99: float
    p999: float
    longest: float
    source: str = ""  # where they were seen


@dataclass(frozen=True, slots=True)
class Effort:
    """What requests of a class take, without faults and under the known cuts."""

    seconds: float  # the median without faults
    calls: float  # attempts per request, on average
    calls_with_faults: float
    runs: int = 0  # without faults, of which the median is
    fastest: float = 0.0  # of these, in seconds
    slowest: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HardeningStarted:
    campaign: str  # whose findings are hardened against
    services: tuple[MeshService, ...] = ()  # of the local mesh, as they were before anything was changed


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsObserved:
    """What requests of all classes took: once before the mesh is changed, and once after it was."""

    efforts: Mapping[str, Effort] = field(hash=False)  # by request
    latencies: Mapping[Point, Latency] = field(default_factory=dict, hash=False)  # by API: attempts, without faults
    recovered: Mapping[Point, int] = field(default_factory=dict, hash=False)  # by API: calls that a retry rescued
    proved: frozenset[Point] = frozenset()  # APIs whose calls carry credentials, or are of a user, by their spans


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """A resource of a cluster, as JSON, before and after."""

    before: str  # whole, as it was read; empty: there was none
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshChanging:
    """Recorded before anything is touched. Until `MeshChanged`, the mesh may hold this, a part of it, or not yet."""

    file: Path | None = None  # of a local mesh
    original: Path | None = None  # where the file is kept as it was before
    resources: tuple[ResourceChange, ...] = ()  # of a cluster
    context: str = ""  # of the kubeconfig, by which that cluster is found; empty: the current one
    environment: str = ""  # that experiments are in, in that cluster
    added: tuple[str, ...]  # `service.setting: value`
    kept: tuple[str, ...]  # what the mesh has and was not changed
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshChanged:
    """The running mesh has taken what was announced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthJudged:
    """Every request was sent without faults to the changed mesh, and held against what it answered before."""

    runs: int  # of each request
    ill: Mapping[str, str] = field(default_factory=dict, hash=False)  # by request: what is wrong with it now


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshRestored:
    """What was applied was taken back: the mesh is configured as it was before this hardening."""

    why: str
    interrupted: bool = False  # whoever resumes applies it anew; else that is the end
    problem: str = ""  # why the mesh does not run from that, if so
    still: Mapping[str, str] = field(default_factory=dict, hash=False)  # requests that do not work without it either


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRechecked:
    """A cut that was known to fail a request was injected again."""

    request: str
    outcome: Outcome
    expected_gone: bool

    @property
    def finding(self) -> Finding:
        """The same as before, whatever came of it now."""
        return Finding(self.request, self.outcome)

    @property
    def remains(self) -> bool:
        """Also when nobody can tell: what is not proven gone counts as there."""
        return self.outcome.verdict in (Verdict.FAILED, Verdict.UNKNOWN)


HardeningEvent = (
    RunStarted
    | HardeningStarted
    | CallsObserved
    | MeshChanging
    | MeshChanged
    | HealthJudged
    | MeshRestored
    | CutRechecked
    | RunFinished
)

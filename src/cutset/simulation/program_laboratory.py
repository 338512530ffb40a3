"""Experiments on request programs, with what a laboratory has to cope with: balancers, flaky answers, lost spans."""

from dataclasses import dataclass
from random import Random

from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.simulation.programs import DELAY_MS, ProgramRun, RequestProgram, World, run_of, sites


@dataclass(frozen=True, slots=True)
class Bother:
    """What a laboratory has to cope with, and how much it does about it."""

    seed: int = 0
    tries: int = 1  # survivors that are taken together; more than one where runs vary
    repeats: int = 1  # failures in a row that are believed; more than one where answers are flaky
    flakes: float = 0.0  # how often a good answer is reported as a failure
    lost_spans: float = 0.0  # how often a part of the trace does not arrive
    patience: int = 5  # trials that prove nothing, after which it stays unknown


class ProgramLaboratory:
    """Experiments on a request program, judged as a real laboratory would."""

    def __init__(self, request: RequestProgram, bother: Bother = Bother()) -> None:  # noqa: B008 - it is frozen
        self._request = request
        self._bother = bother
        self._chance = Random(bother.seed)  # noqa: S311 - a simulation
        self._turn = self._chance.randrange(6)
        self._usual = {world: run_of(request, frozenset(), world)[1].answer for world in request.worlds()}

    def run(self, cut: Cut) -> Outcome:
        """Survivors are taken together, and the worst that was seen counts."""
        survivors: list[tuple[ProgramRun, bool]] = []
        failures: list[tuple[ProgramRun, bool]] = []
        void = 0
        while len(survivors) < self._bother.tries and len(failures) < self._bother.repeats:
            if void >= self._bother.patience:
                return Outcome(cut, Verdict.UNKNOWN, "the trace is incomplete", requests=void)
            ok, run, changed = self._request_once(cut)
            whole = not self._happens(self._bother.lost_spans)
            if not ok or self._happens(self._bother.flakes):
                failures.append((run, whole))
            elif not whole or (cut and not run.fired):
                void += 1
            else:
                survivors.append((run, changed))
                failures.clear()  # a failure that does not repeat was none
        if failures:
            return self._failed(cut, failures)
        return self._survived(cut, survivors)

    def _request_once(self, cut: Cut) -> tuple[bool, ProgramRun, bool]:
        self._turn += 1
        hits = self._chance.getrandbits(self._request.caches) if self._request.caches else 0
        most = max((site.replicas for site in sites(self._request.program)), default=1)
        world = World(self._turn % most, hits)
        ok, run = run_of(self._request, cut, world)
        return ok, run, run.answer != self._usual[world]

    def _failed(self, cut: Cut, failures: list[tuple[ProgramRun, bool]]) -> Outcome:
        run, whole = failures[-1]
        called, fired = set(run.called), set(run.fired)
        if not whole:  # of a failure any span may be missing, but for one that proves it
            called = {point for point in called if self._chance.random() < 0.5 or point == min(fired, default=None)}
            fired &= called
        if cut and not fired:
            return Outcome(cut, Verdict.UNKNOWN, "never fired", calls=frozenset(called))
        return Outcome(
            cut,
            Verdict.FAILED,
            failed=frozenset(run.failed & called),
            calls=frozenset(called),
            fired=frozenset(fired),
            retried=frozenset(run.retried & called),
            requests=len(failures),
            trials=len(failures),
            failures=len(failures),
            healthy_after=True,
        )

    def _survived(self, cut: Cut, survivors: list[tuple[ProgramRun, bool]]) -> Outcome:
        runs = [run for run, _ in survivors]
        degraded = any(changed for _, changed in survivors)
        return Outcome(
            cut,
            Verdict.DEGRADED if degraded else Verdict.SURVIVED,
            reason="a part of the answer is missing" if degraded else "",
            path=frozenset[Point]().union(*(run.path for run in runs)),
            failed=frozenset[Point]().union(*(run.failed for run in runs)),
            calls=frozenset[Point]().union(*(run.called for run in runs)),
            fired=frozenset[Point]().union(*(run.fired for run in runs)),
            retried=frozenset[Point]().union(*(run.retried for run in runs)),
            seen=tuple(seen for run in runs for seen in run.seen),
            milliseconds=min(run.delays for run in runs) * DELAY_MS,
            requests=len(runs),
            trials=len(runs),
        )

    def _happens(self, rate: float) -> bool:
        return rate > 0 and self._chance.random() < rate

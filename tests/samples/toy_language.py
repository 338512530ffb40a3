"""A language of two words, with a front end of its own: a search must not need to know Python.

A program has a line for each of its sites, `NAME | what it says when it fails | N what it says if its N-th try fails`.
It goes through them turn by turn, and says what it has done. A failure that is told in the third column is for good:
from then on, the site says nothing any more.
"""

import asyncio
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cutset.model.reproduction.event import ReproductionEvent
from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.model.reproduction.site import FaultKind, FiredFault, Site, SiteFault, SiteKind, Visit
from cutset.process.supervise import inherited_environment
from cutset.reproduce.front_end import EffectsOf, SiteEffect
from cutset.reproduce.graph.causal import CausalGraph, CausalNode, grow
from cutset.reproduce.logs.dialect import NumberedLine
from cutset.reproduce.logs.recognition import Sighting, sightings
from cutset.reproduce.logs.statements import LogStatement, index_statements, pattern_of
from cutset.reproduce.loop import reproduce
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.rounds.harness import ArmedRound, Firing, HookReport, LocatedSites, Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings
from cutset.reproduce.state import ReproductionState

PROGRAM = """
fetch | cannot fetch |
store | cannot store | 3 lost for good
check | cannot check |
"""
RUNTIME = """
import json, os, sys
rows = [[part.strip() for part in line.split("|")] for line in open(sys.argv[1]) if line.strip()]
plan = json.load(open(os.environ["TOY_PLAN"]))
lines, visits, broken, fired = 0, [], set(), {}
def say(level, text):
    global lines
    lines += 1
    print("2026-11-16 03:00:00,%03d %s [MainThread] toy: %s" % (lines, level, text), flush=True)
turn_limit = int(sys.argv[2])
for turn in range(1, turn_limit + 1):
    for row, (name, failure, final) in enumerate(rows):
        if row in broken:
            continue
        site = plan["numbers"].get(str(row))
        if site is not None:
            visits.append([site, turn, lines, 0, "MainThread"])
        hits = [[kind, fault] for kind in ("ground", "window") for fault in plan[kind]
                if fault[0] == site and fault[1] in (0, turn) and (kind == "ground" or "window" not in fired)]
        if hits:
            kind, fault = hits[0]
            fired.setdefault(kind, []).append([site, turn, fault[2], lines])
            say("ERROR", failure)
            when, _, text = final.partition(" ")
            if final and int(when) == turn:
                say("ERROR", text)
                broken.add(row)
        else:
            say("INFO", name + " done")
json.dump({"visits": visits, "fired": fired}, open(plan["out"], "w"))
sys.exit(3 if turn_limit < 0 else 0)
"""


class ToyLogs:
    """It has no tracebacks, and no test runner."""

    prints_traces_at_once = False

    def undecorated(self, lines: Sequence[str]) -> list[NumberedLine]:
        return list(enumerate(lines, start=1))

    def begins_trace(self, line: str) -> bool:
        return False

    def continues_trace(self, trace: Sequence[str], line: str, *, formatted: bool) -> bool:
        return False

    def resumes_trace(self, trace: Sequence[str], line: str) -> bool:
        return False

    def uncaught(self, line: str) -> str | None:
        return None

    def raised(self, trace: Sequence[str]) -> str:
        return ""

    def exceptions(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        return iter(())


@dataclass(frozen=True)
class ToyProgram:
    rows: tuple[tuple[str, str, str], ...]
    path: str
    skipped: tuple[str, ...] = ()
    files: int = 1

    @property
    def paths(self) -> Sequence[str]:
        return [self.path]

    @property
    def lines(self) -> int:
        return len(self.rows)

    @property
    def sites(self) -> Sequence[Site]:
        return [
            Site("toy", "main", name, 0, SiteKind.CALL, self.path, line, 0, line, len(name))
            for line, (name, _, _) in enumerate(self.rows, start=1)
        ]

    def recognise(self, record: LogRecord) -> Sequence[Sighting]:
        texts = [(row, text) for row, (name, failure, _) in enumerate(self.rows) for text in (f"{name} done", failure)]
        texts += [(row, final.partition(" ")[2]) for row, (_, _, final) in enumerate(self.rows) if final]
        statements = [LogStatement(text, row, "", "", *pattern_of((text,))) for row, text in texts]
        return sightings(record, index_statements(statements), ())

    def called_before(self, sighting: Sighting) -> frozenset[str]:
        return frozenset()

    def arising(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        return {}

    def contexts(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        return {}

    def effects(self, failure: Sequence[LogRecord], kinds: Collection[FaultKind], delay_s: float) -> EffectsOf:
        return lambda site, wanted: [SiteEffect("fail()", "whatever is tried can fail", 0)]

    def causal_graph(self, sightings: Iterable[Sighting]) -> CausalGraph:
        begins = ((seen.key, [(seen.key, seen.statement.event)]) for seen in sightings if seen.statement)
        return grow(begins, self._prior, self._node, self._step)

    def may_run(self, executed: Mapping[str, frozenset[int]]) -> Mapping[str, frozenset[int]]:
        return executed

    def _prior(self, key: tuple[str, int]) -> list[tuple[str, int]]:
        """What is said follows from a failure; what is said for good, from one that was handled before."""
        text, row = key
        if text in ("failure", "handled"):
            return [("failure", row)] if text == "handled" else []
        return [("handled" if text == self.rows[row][2].partition(" ")[2] else "failure", row)]

    def _node(self, key: tuple[str, int]) -> CausalNode:
        text, row = key
        return CausalNode(row if text == "failure" else -1)

    def _step(self, key: tuple[str, int]) -> CausalStep:
        text, row = key
        kinds = {"failure": CausalKind.EXTERNAL, "handled": CausalKind.HANDLER}
        return CausalStep(kinds.get(text, CausalKind.LOCATION), "toy", "main", row + 1, text)


class ToyFrontEnd:
    runtime = "toy"
    dialect = ToyLogs()
    any_exception = "mishap()"

    def read_program(
        self, case: FailureCase, progress: Progress = nobody_watches, cache: Path | None = None
    ) -> ToyProgram:
        (source,) = case.sources
        parts = [[part.strip() for part in line.split("|")] for line in Path(source).read_text().splitlines() if line]
        return ToyProgram(tuple((name, failure, final) for name, failure, final in parts), source)

    def write_replay(self, folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
        raise NotImplementedError

    def arm(self, plan: ArmedRound, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        numbers = {site.line - 1: number for number, site in plan.sites}
        faults = {"window": _rows(plan.window), "ground": _rows(plan.ground)}
        told = {"numbers": numbers, **faults, "out": str(folder / "out.json")}
        (folder / "plan.json").write_text(json.dumps(told))
        return inherited_environment() | dict(env) | {"TOY_PLAN": str(folder / "plan.json")}

    def report(self, plan: ArmedRound, folder: Path, logs: Sequence[Path]) -> HookReport:
        fired = json.loads((folder / "out.json").read_text())["fired"]
        return HookReport(
            fired=next(iter(map(_firing, fired.get("window", ()))), None),
            fired_ground=tuple(map(_firing, fired.get("ground", ()))),
            visits=self.visits(folder, logs),
            problems=(),
        )

    def visits(self, folder: Path, logs: Sequence[Path]) -> tuple[Visit, ...]:
        return tuple(Visit(*row) for row in json.loads((folder / "out.json").read_text())["visits"])

    def executed(self, folder: Path) -> Mapping[str, frozenset[int]]:
        return {}

    def visit_counts(self, folder: Path) -> Mapping[int, int]:
        return {visit.site: visit.occurrence for visit in self.visits(folder, ())}

    def locate(
        self, sites: Mapping[Site, Sequence[str]], sources: Sequence[str], workload: Workload, runtime: str | None
    ) -> LocatedSites:
        return LocatedSites({site: [site] for site in sites}, [])

    def with_runtime(self, workload: Workload, runtime: str) -> Workload:
        return workload


def _rows(faults: Iterable[SiteFault]) -> list[list[Any]]:
    return [[fault.site, fault.occurrence, fault.effect] for fault in faults]


def _firing(row: Sequence[Any]) -> Firing:
    site, occurrence, effect, lines = row
    return Firing(SiteFault(site, occurrence, effect), lines, 0, "MainThread", (f"toy:{site + 1} in main",))


def log_of(*texts: str) -> str:
    levels = ["INFO" if text.endswith("done") else "ERROR" for text in texts]
    return "".join(
        f"2026-11-16 03:00:00,{number:03} {level} [MainThread] toy: {text}\n"
        for number, (level, text) in enumerate(zip(levels, texts, strict=True), start=1)
    )


# The third `store` failed, and from then on there is none.
FAILURE_LOG = log_of(
    *(["fetch done", "store done", "check done"] * 2),
    *("fetch done", "cannot store", "lost for good", "check done"),
    *(["fetch done", "check done"] * 2),
)


def toy_case(
    folder: Path, oracle: str = "log:lost for good", *, program: str = PROGRAM, log: str = FAILURE_LOG, turns: int = 5
) -> FailureCase:
    (folder / "program.toy").write_text(program.lstrip())
    (folder / "runtime.py").write_text(RUNTIME)
    command = (sys.executable, "-I", "-S", str(folder / "runtime.py"), str(folder / "program.toy"), str(turns))
    workload = Workload(command, timeout_s=30)
    return FailureCase((str(folder / "program.toy"),), (), (), log, workload, parse_oracle(oracle))


def toy_state(case: FailureCase, folder: Path, **settings: Any) -> ReproductionState:
    """Of a search that has not begun."""
    subject = asyncio.run(read_subject(case, ToyFrontEnd()))
    return ReproductionState(subject, ReproductionSettings(**settings), folder / "runs", lambda _: None, {}, [])


def toy_search(
    case: FailureCase, folder: Path, past: Sequence[ReproductionEvent] = (), **settings: Any
) -> list[ReproductionEvent]:
    """All events of a whole search."""

    async def search() -> list[ReproductionEvent]:
        subject = await read_subject(case, ToyFrontEnd())
        events = partial(reproduce, subject, ReproductionSettings(**settings), folder / "runs", past=past)
        return [event async for event in events()]

    return asyncio.run(search())

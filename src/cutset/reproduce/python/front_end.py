"""Python, as a search for the fault behind a failure needs it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, FiredFault, Site
from cutset.reproduce.front_end import EffectsOf
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.recognition import Origin, Sighting, sighting
from cutset.reproduce.logs.statements import index_statements
from cutset.reproduce.python.causal import causal_graph
from cutset.reproduce.python.effects import effects_of
from cutset.reproduce.python.exceptions import construct
from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.logged_exceptions import exceptions_in
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.syntax import PythonProgram
from cutset.reproduce.python.tracebacks import index_source, origins
from cutset.reproduce.settings import FailureCase


class PythonFrontEnd(PythonHarness):
    any_exception = "Exception('injected')"

    def read_program(self, case: FailureCase) -> "PythonAnalysis":
        program = read_program(case.sources, case.search_path, case.drivers)
        return PythonAnalysis(program, case.search_path, prints=case.prints)

    def record_lines(self, log: str) -> Sequence[int]:
        records = read_log(log, formats_of(log, dialect=self.dialect), dialect=self.dialect)
        return [record.line for record in records if record.level or record.logger]

    def write_replay(self, folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
        return write_replay(folder, case, faults)


class PythonAnalysis:
    def __init__(self, program: PythonProgram, search_path: Sequence[str], *, prints: bool = False) -> None:
        self.program = program
        self._search_path = search_path
        self._statements = index_statements(log_statements(program, prints=prints))
        self._source = index_source(program)

    @property
    def sites(self) -> Sequence[Site]:
        return self.program.sites

    @property
    def files(self) -> int:
        return len(self.program.modules)

    @property
    def paths(self) -> Sequence[str]:
        # As a replay finds them, which reads none of them.
        return sorted({each.path for each in (*self.program.modules.values(), *self.program.skipped)})

    @property
    def lines(self) -> int:
        return self.program.lines

    @property
    def skipped(self) -> Sequence[str]:
        return [f"{skipped.path}: {skipped.reason}" for skipped in self.program.skipped]

    def recognise(self, record: LogRecord) -> Sighting | None:
        return sighting(record, self._statements, origins(record, self._source))

    def arising(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        found: dict[int, dict[str, None]] = {}
        for record in records:
            messages = dict(exceptions_in([record]))
            for number, origin in self._arising(record):
                effect = construct(origin.type or "Exception", messages.get(origin.type, ""))
                found.setdefault(number, {})[effect] = None
        return {number: list(effects) for number, effects in found.items()}

    def contexts(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        found: dict[int, dict[str, None]] = {}
        for record in records:
            for number, origin in self._arising(record):
                found.setdefault(number, {})[origin.context] = None
        return {number: list(contexts) for number, contexts in found.items()}

    def _arising(self, record: LogRecord) -> Iterator[tuple[int, Origin]]:
        for origin in origins(record, self._source):
            for number in self._sites_of.get(origin.function, ()):
                if self.sites[number].line <= origin.line <= self.sites[number].end_line:
                    yield number, origin

    @cached_property
    def _sites_of(self) -> dict[int, list[int]]:
        """By function."""
        found: dict[int, list[int]] = {}
        for number, event in enumerate(self.program.site_events):
            found.setdefault(self.program.events[event].function, []).append(number)
        return found

    def effects(self, failure: Sequence[LogRecord], kinds: Collection[FaultKind], delay_s: float) -> EffectsOf:
        return effects_of(self.program, self._search_path, failure, kinds, delay_s)

    def causal_graph(self, sightings: Iterable[Sighting]) -> CausalGraph:
        return causal_graph(self.program, sightings)

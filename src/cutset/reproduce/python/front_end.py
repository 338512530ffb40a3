"""Python, as a search for the fault behind a failure needs it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, FiredFault, Site
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.front_end import EffectsOf
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.recognition import Origin, Sighting, sightings
from cutset.reproduce.logs.statements import index_statements
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.python.causal import causal_graph
from cutset.reproduce.python.deciding_values import DecidingValues, deciding_values
from cutset.reproduce.python.effects import effects_of
from cutset.reproduce.python.exception_making import Library, make
from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.python.interpreter import is_python
from cutset.reproduce.python.libraries import read_libraries, tried
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.logged_exceptions import exceptions_in
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.python.running import may_run
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.syntax import PythonProgram
from cutset.reproduce.python.tracebacks import index_source, origins
from cutset.reproduce.settings import FailureCase


class PythonFrontEnd(PythonHarness):
    any_exception = "Exception('injected')"

    def read_program(
        self, case: FailureCase, progress: Progress = nobody_watches, cache: Path | None = None
    ) -> "PythonAnalysis":
        program = read_program(case.sources, case.search_path, case.drivers, progress=progress, cache=cache)
        first = case.workload.command[0]
        interpreter = case.runtime or (first if is_python(first) else "")
        return PythonAnalysis(
            program, case.search_path, prints=bool(case.prints), interpreter=interpreter, env=case.workload.env
        )

    def record_lines(self, log: str) -> Sequence[int]:
        records = read_log(log, formats_of(log, dialect=self.dialect), dialect=self.dialect)
        return [record.line for record in records if record.level or record.logger]

    def write_replay(self, folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
        return write_replay(folder, case, faults)


class PythonAnalysis:
    def __init__(
        self,
        program: PythonProgram,
        search_path: Sequence[str],
        *,
        prints: bool = False,
        interpreter: str = "",
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.program = program
        self._search_path = search_path
        self._interpreter, self._env = interpreter, env or {}
        self._tried: dict[tuple[tuple[str, str], ...], Library] = {}
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
        read = {module.path for module in self.program.modules.values()}
        return sorted(read | {skipped.path for skipped in self.program.skipped})

    @property
    def lines(self) -> int:
        return self.program.lines

    @property
    def skipped(self) -> Sequence[str]:
        return [f"{skipped.path}: {skipped.reason}" for skipped in self.program.skipped]

    def recognise(self, record: LogRecord) -> Sequence[Sighting]:
        return sightings(record, self._statements, origins(record, self._source))

    def called_before(self, sighting: Sighting) -> frozenset[str]:  # noqa: ARG002 -- the protocol's
        return frozenset()  # which of a function's calls must have failed is not looked for

    def arising(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        records = list(records)
        library = self._library(records)
        consequences = self._deciding.brought_about
        found: dict[int, dict[str, None]] = {}
        for record in records:
            messages = dict(exceptions_in([record]))
            for origin, number in self._ends(record):
                if not consequences.get(self.program.site_events[number]):
                    kind = origin.type or "Exception"
                    message = messages.get(kind, messages.get(f"builtins.{kind}", ""))
                    found.setdefault(number, {})[make(kind, message, library)] = None
        return {number: list(effects) for number, effects in found.items()}

    def contexts(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        found: dict[int, dict[str, None]] = {}
        for record in records:
            for origin, number in self._ends(record):
                found.setdefault(number, {})[origin.context] = None
        return {number: list(contexts) for number, contexts in found.items()}

    def _ends(self, record: LogRecord) -> Iterator[tuple[Origin, int]]:
        """Sites on the lines where tracebacks of a record end, or leave the analysed code."""
        for origin in origins(record, self._source):
            for number in self._sites_of.get(origin.function, ()):
                if self.sites[number].line <= origin.line <= self.sites[number].end_line:
                    yield origin, number

    def _library(self, failure: Iterable[LogRecord]) -> Library:
        """What can be made, tried once for each log."""
        in_log = tuple(exceptions_in(failure))
        if in_log not in self._tried:
            known = self._libraries
            self._tried[in_log] = tried(known, in_log, self._interpreter, self._env) if self._interpreter else known
        return self._tried[in_log]

    @cached_property
    def _deciding(self) -> DecidingValues:
        return deciding_values(self.program)

    @cached_property
    def _libraries(self) -> Library:
        return read_libraries(self.program, self._search_path)

    @cached_property
    def _sites_of(self) -> dict[int, list[int]]:
        """By function."""
        found: dict[int, list[int]] = {}
        for number, event in enumerate(self.program.site_events):
            found.setdefault(self.program.events[event].function, []).append(number)
        return found

    @collection_paused()
    def effects(self, failure: Sequence[LogRecord], kinds: Collection[FaultKind], delay_s: float) -> EffectsOf:
        ended_at = {self.program.site_events[number] for record in failure for _, number in self._ends(record)}
        library, arising = self._library(failure), self.arising(failure)
        return effects_of(self.program, library, failure, kinds, delay_s, ended_at=ended_at, arising=arising)

    def causal_graph(self, sightings: Iterable[Sighting]) -> CausalGraph:
        return causal_graph(self.program, sightings)

    def may_run(self, executed: Mapping[str, frozenset[int]]) -> Mapping[str, frozenset[int]]:
        return may_run(self.program, executed)

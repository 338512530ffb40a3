"""The JVM, as a search for the fault behind a failure needs it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, FiredFault, Site
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.front_end import EffectsOf
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.jvm.causal import causal_graph
from cutset.reproduce.jvm.effects import effects_of
from cutset.reproduce.jvm.escapes import caught_before
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.harness import JvmHarness
from cutset.reproduce.jvm.log_statements import log_statements, written_by
from cutset.reproduce.jvm.logged_exceptions import caught_by_writer
from cutset.reproduce.jvm.replay_script import write_replay
from cutset.reproduce.jvm.running import may_run
from cutset.reproduce.jvm.stack_traces import TraceEnd, index_functions, sites_at, trace_ends
from cutset.reproduce.jvm.tables import JvmProgram, read_tables
from cutset.reproduce.jvm.usual_failures import is_of_the_jvm
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.recognition import Sighting, seen_by
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.settings import FailureCase


class JvmFrontEnd(JvmHarness):
    any_exception = 'java.lang.RuntimeException("injected")'

    def read_program(
        self, case: FailureCase, progress: Progress = nobody_watches, cache: Path | None = None
    ) -> "JvmAnalysis":
        return JvmAnalysis(read_tables(extract(case, progress, cache)), prints=bool(case.prints))

    def record_lines(self, log: str) -> Sequence[int]:
        records = read_log(log, formats_of(log, dialect=self.dialect), dialect=self.dialect)
        return [record.line for record in records if record.level or record.logger]

    def write_replay(self, folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
        return write_replay(folder, case, faults)


class JvmAnalysis:
    def __init__(self, program: JvmProgram, *, prints: bool = False) -> None:
        self.program = program
        self._statements = log_statements(program, prints=prints)
        self._functions = index_functions(program)
        self._recognised = lru_cache(maxsize=1 << 15)(self._recognise)  # logs are gone through several times

    @property
    def sites(self) -> Sequence[Site]:
        return self.program.sites

    @property
    def files(self) -> int:
        return self.program.files

    @property
    def paths(self) -> Sequence[str]:
        return self.program.paths

    @property
    def lines(self) -> int:
        return self.program.lines

    @property
    def skipped(self) -> Sequence[str]:
        return self.program.skipped

    def recognise(self, record: LogRecord) -> Sequence[Sighting]:
        return self._recognised(record)

    def _recognise(self, record: LogRecord) -> Sequence[Sighting]:
        ends = trace_ends(record, self.program, self._functions)
        origins = [end.origin for end in ends if not end.wrapped]
        return seen_by(written_by(record, self._statements), origins, caught_by_writer(record))

    def called_before(self, sighting: Sighting) -> frozenset[str]:
        if sighting.statement is None or sighting.missing:
            return frozenset()
        statement = self.program.statements[sighting.statement.event]
        method = self.program.method(statement.method)
        blocks = [log.block for log in method.logs if log.instruction in statement.instructions]
        tried = caught_before(method, blocks)
        return frozenset(
            self.program.strings[call.name]
            for call in method.calls
            if any(attempt.start <= call.instruction < attempt.end for attempt in tried)
        )

    def arising(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        found: dict[int, dict[str, str]] = {}
        for end, number in self._causes(records):
            # Of each type one: what an exception says hardly ever decides what comes of it.
            found.setdefault(number, {}).setdefault(end.origin.type, self._types.make(end.origin.type, end.message))
        return {number: list(effects.values()) for number, effects in found.items()}

    def contexts(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        found: dict[int, dict[str, None]] = {}
        for end, number in self._causes(records):
            found.setdefault(number, {})[end.origin.context] = None
        return {number: list(contexts) for number, contexts in found.items()}

    def _causes(self, records: Iterable[LogRecord]) -> Iterator[tuple[TraceEnd, int]]:
        """Sites at which the root causes of stack traces arose, as far as they are in the analysed code.

        What the JVM itself throws for a value that is wrong does not come from a call.
        """
        for record in records:
            ends = trace_ends(record, self.program, self._functions)
            for end in ends[: 2 if ends and ends[0].wrapped else 1]:
                if end.callee or not is_of_the_jvm(end.origin.type, end.message):
                    sites = sites_at(end, self.program, self._sites_of, self._types)
                    yield from ((end, number) for number in sites)
                    if sites:
                        break

    @cached_property
    def _types(self) -> ExceptionTypes:
        return ExceptionTypes(self.program)

    @cached_property
    def _sites_of(self) -> Mapping[int, Sequence[int]]:
        """By function."""
        found: dict[int, list[int]] = {}
        for number, row in enumerate(self.program.site_rows):
            found.setdefault(row.method, []).append(number)
        return found

    @collection_paused()
    def effects(self, failure: Sequence[LogRecord], kinds: Collection[FaultKind], delay_s: float) -> EffectsOf:
        return effects_of(self.program, self._types, failure, kinds, delay_s, arising=self.arising(failure))

    def causal_graph(self, sightings: Iterable[Sighting]) -> CausalGraph:
        return causal_graph(self.program, sightings)

    def may_run(self, executed: Mapping[str, frozenset[int]]) -> Mapping[str, frozenset[int]]:
        return may_run(self.program, executed)

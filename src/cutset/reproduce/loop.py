"""The search for the fault behind a failure (ANDURIL §3, §5): try one, look at the log, rank again. Yields events.

Good runs come first: they must not show the symptom, and tell what the workload does by itself. Then single faults; if
none will do, a second one on top of the one that came nearest. When the oracle holds, the search goes on for a few more
rounds, unless the run's log is just like the failure log: the symptom may have several causes, and that log tells them
apart. What is found is tried again, to see how reliably it shows the failure, and, if asked for, made simpler.

Every round is in the ledger before it counts. A search that goes on later reads them from there.
"""

import asyncio
import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

from cutset.errors import CutsetError, UsageError
from cutset.model.reproduction import Choice, LogRecord, Visit
from cutset.reproduce import ledger
from cutset.reproduce.effects import effects_of
from cutset.reproduce.events import Analysed, Event, Finished, GoodRunFinished, RankedSite, RoundFinished, Stage
from cutset.reproduce.explorer import Explorer, Round
from cutset.reproduce.log_diff import Entry, keyed, unlikeness
from cutset.reproduce.logs import read_log
from cutset.reproduce.narrate import Story, ranking_of, reproduction_of, round_event, round_folder
from cutset.reproduce.oracle import judge
from cutset.reproduce.oracle_terms import is_symptom, own_symptoms
from cutset.reproduce.prepare import LogReader, Prepared, prepare, timed
from cutset.reproduce.result import Reproduction, SearchResult
from cutset.reproduce.runner import how_it_ended, run_round
from cutset.reproduce.settings import Case, SearchSettings
from cutset.reproduce.source import read_program
from cutset.reproduce.symptoms import Answer
from cutset.reproduce.syntax import Program
from cutset.reproduce.tried import Tried, choice_rows, tried_fields, tried_of
from cutset_agent.sites.visits import read_visits

GOOD_RUNS = 2  # the second tells what comes and goes by itself
SINGLES_SHARE = 0.75  # of the rounds, if a second fault is to be tried at all
ELSEWHERE_ROUNDS = 20
MOST_CONFIRMED = 3  # reproductions that are tried again
ANY_EXCEPTION = "Exception('injected')"


async def reproduce(case: Case, settings: SearchSettings, folder: Path) -> AsyncIterator[Event]:
    """`folder` is new, or of a search of the same case, which then goes on."""
    search = _Search(case, settings, folder)
    with ledger.held(folder):
        async for event in search.prepare():
            yield event
        async for event in search.singles():
            yield event
        if not search.reproductions and settings.second_fault:
            async for event in search.second_faults():
                yield event
        if search.reproductions:
            async for event in search.confirm():
                yield event
        yield Finished(search.finish())


class _Search:
    program: Program
    prepared: Prepared
    story: Story
    good: list[list[Entry]]  # by statements, for feedback
    good_texts: list[list[Entry]]  # by texts, for likeness
    good_visits: tuple[Visit, ...]
    explorer: Explorer

    def __init__(self, case: Case, settings: SearchSettings, folder: Path) -> None:
        self.case, self.settings, self.folder = case, settings, folder
        self.started = time.monotonic()
        self.tried: list[Tried] = []
        self.reproductions: list[Tried] = []  # in order, one for each site
        self.best: Tried | None = None
        self._repeats: dict[int, list[Tried]] = {}  # by the number of the round that was repeated
        self.remarks: list[str] = []

    # -- before the first fault ---------------------------------------------------------------------------------------

    async def prepare(self) -> AsyncIterator[Event]:
        case = self.case
        self.failure = failure = read_log(case.failure_log, case.log_pattern)
        if not failure:
            raise UsageError("The failure log has no entries", hint="Check `--log` and `--log-pattern`")
        begun = time.monotonic()
        self.program = await asyncio.to_thread(read_program, case.sources, case.search_path, case.drivers)
        if not self.program.sites:
            raise UsageError(
                f"There is nothing to inject in {', '.join(case.sources)}",
                hint="Name the packages whose handling of failures is in question with `--source`",
            )
        past = ledger.begin(self.folder, _fingerprint(case, self.settings, self.program))
        past_good = {line["good"]: line for line in past if "good" in line}
        self._past = [tried_of(line["round"]) for line in past if "round" in line]
        self.reader = LogReader(self.program, prints=case.prints)
        analysis = time.monotonic() - begun
        self.plan = _plan(self.program, self.folder)
        self.good, self.good_texts, self.failure_texts = [], [], keyed(failure)
        for number in range(1, GOOD_RUNS + 1):
            line = past_good.get(number) or await self._good_run(number)
            records = self._records(map(Path, line["logs"]))
            self.good.append(self.reader.entries(records))
            self.good_texts.append(keyed(records))
            if number == 1:
                self.good_visits = tuple(Visit(*row) for row in read_visits(str(self.folder / "good-1" / "out")))
            yield GoodRunFinished(number, GOOD_RUNS, line["seconds"], tuple(line["problems"]))
        begun = time.monotonic()
        settings = self.settings
        effects = effects_of(self.program, case.search_path, failure, settings.kinds, settings.delay_s)
        symptoms = [record.line for record in failure if is_symptom(record, case.oracle)]
        self.prepared = await asyncio.to_thread(
            prepare, self.program, self.reader, failure, self.good, effects=effects, symptoms=symptoms
        )
        texts = self.reader.texts_of(self.prepared.observables, failure)
        self.story = Story(self.program, self.prepared, texts, self.folder)
        if not self.prepared.observables:
            raise UsageError(
                "The failure log has nothing that good runs lack, and lacks nothing that they have",
                hint="Is it the log of the failure, at the same log level? The oracle recognises nothing in it either",
            )
        yield Analysed(
            files=len(self.program.modules),
            lines=self.program.lines,
            seconds=analysis + time.monotonic() - begun,
            sites=len(self.program.sites),
            related_sites=sum(bool(facts.distances) for facts in self.prepared.facts),
            visits=len(self.good_visits),
            unvisited=self._unvisited(),
            messages=tuple(texts.values()),
            recognised=len(self.reader.recognised(failure)),
            skipped=tuple(f"{skipped.path}: {skipped.reason}" for skipped in self.program.skipped),
            resumed=len(self._past),
        )

    def _unvisited(self) -> tuple[str, ...]:
        visited = {self.program.sites[visit.site].module.partition(".")[0] for visit in self.good_visits}
        packages = dict.fromkeys(site.module.partition(".")[0] for site in self.program.sites)
        return tuple(package for package in packages if package not in visited)

    async def _good_run(self, number: int) -> dict[str, Any]:
        folder = self.folder / f"good-{number}"
        _remove(folder)
        run = await run_round(self.case.workload, self.plan, folder)
        verdict = await judge(self.case.oracle, run)
        if verdict.answer is Answer.YES:
            raise UsageError(
                f"The oracle holds without any fault: {verdict.reason}",
                hint=f"It must recognise the failure alone; the run's output is in {folder}",
            )
        if not run.succeeded:
            raise UsageError(
                f"The workload fails by itself, without any fault: {how_it_ended(run)}",
                hint=f"It must succeed while nothing is wrong; the run's output is in {folder}",
            )
        line = {
            "good": number,
            "seconds": round(run.wall_s, 3),
            "logs": list(map(str, run.logs)),
            "problems": list(run.problems),
        }
        ledger.append(self.folder, line)
        return line

    # -- the search ---------------------------------------------------------------------------------------------------

    async def singles(self) -> AsyncIterator[Event]:
        share = SINGLES_SHARE if self.settings.second_fault else 1
        budget = max(1, round(share * self.settings.rounds))
        prepared = self.prepared
        self.explorer = Explorer(
            prepared.facts, prepared.observables, self.good_visits, prepared.apart, self.settings.explorer
        )
        async for event in self._explore(self.explorer, Stage.SINGLE, (), budget):
            yield event

    async def second_faults(self) -> AsyncIterator[Event]:
        """On top of the fault that brought most of the messages: the second is to bring those that are missing then."""
        fired = [tried for tried in self.tried if tried.fired is not None]
        base = max(fired, key=lambda tried: (len(tried.shown), -tried.number), default=None)
        if base is None or base.fired is None:
            return
        out = round_folder(self.folder, base.number) / "out"
        visits = tuple(Visit(*row) for row in read_visits(str(out)))
        lacking = [each for each in self.prepared.observables if each.key not in base.shown]
        wanted = lacking or list(self.prepared.observables)
        apart = timed(
            self.reader.entries(self._records(map(Path, base.logs))), self.reader.entries(self.failure), wanted
        )
        explorer = Explorer(self.prepared.facts, wanted, visits, apart, self.settings.explorer)
        explorer.exclude_site(base.fired.choice.site)
        async for event in self._explore(explorer, Stage.SECOND, (base.fired.choice,), self._rounds_left()):
            yield event

    async def _explore(
        self, explorer: Explorer, stage: Stage, first: tuple[Choice, ...], budget: int
    ) -> AsyncIterator[Event]:
        """Until a fault reproduces the failure well, nothing is left to try, or the budget is spent."""
        done = 0
        for tried in [tried for tried in self._past if tried.stage is stage and tried.first == first]:
            self._past.remove(tried)
            self.tried.append(tried)
            done += 1
            yield self._event(tried)
            self._take(explorer, tried)
        while done < budget and not self._is_close_enough():
            planned = explorer.next_rounds(min(self.settings.jobs, budget - done))
            if not planned:
                return
            for each, tried in zip(planned, await self._rounds(stage, planned, first), strict=True):
                done += 1
                yield self._event(tried, ranking_of(self.story, each))
                self._take(explorer, tried)

    def _take(self, explorer: Explorer, tried: Tried) -> None:
        _learn(explorer, tried)
        if tried.reproduces:
            self.reproductions.append(tried)
            explorer.exclude_site(tried.choice.site)

    def _is_close_enough(self) -> bool:
        if not self.reproductions:
            return False
        since = self.tried[-1].number - self.reproductions[0].number
        return min(map(_likeness, self.reproductions))[0] == 0 or since >= self.settings.closer

    # -- what was found -----------------------------------------------------------------------------------------------

    async def confirm(self) -> AsyncIterator[Event]:
        """Again, the one with the most similar log first, until one shows the symptom at least every second time."""
        for found in sorted(self.reproductions, key=_likeness)[:MOST_CONFIRMED]:
            async for event in self._repeat(found):
                yield event
            if 2 * self._held(found) >= self.settings.repeats:
                break
        found = max(self.reproductions, key=lambda tried: (self._held(tried), *(-part for part in _likeness(tried))))
        if found.ground:
            (alone,) = await self._rounds(Stage.MINIMISE, [Round((found.choice,), 1)], ())
            yield self._event(alone)
            found = alone if alone.reproduces else found
        self.best = found
        self.remarks += own_symptoms(found.choice.effect, self.case.oracle)
        if self.settings.minimise:
            async for event in self._minimise(found):
                yield event
            async for event in self._look_elsewhere():
                yield event

    def _held(self, found: Tried) -> int:
        return sum(tried.reproduces for tried in self._repeats.get(found.number, ()))

    async def _repeat(self, found: Tried) -> AsyncIterator[Event]:
        again = [Round((found.choice,), 1)] * self.settings.repeats
        repeats = self._repeats.setdefault(found.number, [])
        for start in range(0, len(again), self.settings.jobs):
            batch = again[start : start + self.settings.jobs]
            for tried in await self._rounds(Stage.REPEAT, batch, found.ground):
                repeats.append(tried)
                yield self._event(tried)

    async def _minimise(self, found: Tried) -> AsyncIterator[Event]:
        """Earlier, halving the way to an occurrence that does not show the symptom; and with any exception."""
        exact = found.choice
        earliest, fails = found, 0
        while (high := earliest.choice.occurrence) - fails > 1:
            middle = 1 if fails == 0 and high > 2 and earliest is found else (fails + high) // 2
            choice = Choice(exact.site, middle, exact.effect)
            (tried,) = await self._rounds(Stage.MINIMISE, [Round((choice,), 1)], found.ground)
            yield self._event(tried)
            if tried.reproduces:
                earliest = tried
            else:
                fails = choice.occurrence
        if earliest is not self.best:
            self.best = earliest
            async for event in self._repeat(earliest):
                yield event
        choice = Choice(exact.site, earliest.choice.occurrence, ANY_EXCEPTION)
        (tried,) = await self._rounds(Stage.MINIMISE, [Round((choice,), 1)], earliest.ground)
        yield self._event(tried)
        self.remarks.append(
            "a plain Exception there shows the symptom, too: the type does not matter"
            if tried.reproduces
            else "a plain Exception there does not show the symptom: the type matters"
        )
        self.remarks.append(
            f"occurrence {fails} does not show the symptom" if fails else "the first occurrence shows the symptom"
        )

    async def _look_elsewhere(self) -> AsyncIterator[Event]:
        explorer = self.explorer
        budget = min(ELSEWHERE_ROUNDS, self._rounds_left())
        done = 0
        while done < budget and (planned := explorer.next_rounds(min(self.settings.jobs, budget - done))):
            for each, tried in zip(planned, await self._rounds(Stage.ELSEWHERE, planned, ()), strict=True):
                done += 1
                yield self._event(tried, ranking_of(self.story, each))
                self._take(explorer, tried)

    def finish(self) -> SearchResult:
        others = [tried for tried in self.reproductions if self.best and tried.choice.site != self.best.choice.site]
        return SearchResult(
            best=self._reproduction(self.best) if self.best else None,
            alternatives=tuple(map(self._reproduction, others)),
            first_found=self._reproduction(self.reproductions[0]) if self.reproductions else None,
            rounds=len(self.tried),
            seconds=round(time.monotonic() - self.started, 1),
            summary=str(self.explorer.progress()),
            remarks=tuple(self.remarks),
        )

    # -- rounds -------------------------------------------------------------------------------------------------------

    async def _rounds(self, stage: Stage, planned: Sequence[Round], first: tuple[Choice, ...]) -> list[Tried]:
        """All at once; those that the ledger has are not run again."""
        known: list[Tried | None] = []
        for each in planned:
            same = next(
                (one for one in self._past if (one.stage, one.first, one.window) == (stage, first, each.window)), None
            )
            if same is not None:
                self._past.remove(same)
                self.tried.append(same)
            known.append(same)
        start = max((tried.number for tried in (*self.tried, *self._past)), default=0)
        missing = [each for each, tried in zip(planned, known, strict=True) if tried is None]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._round(stage, start + number, each, first))
                    for number, each in enumerate(missing, start=1)
                ]
        except* CutsetError as errors:
            raise errors.exceptions[0] from None  # one is enough to know what is wrong
        fresh = iter([task.result() for task in tasks])
        return [tried or next(fresh) for tried in known]

    async def _round(self, stage: Stage, number: int, planned: Round, first: tuple[Choice, ...]) -> Tried:
        folder = round_folder(self.folder, number)
        _remove(folder)
        plan = {**self.plan, "choices": choice_rows(planned.window), "first": choice_rows(first)}
        run = await run_round(self.case.workload, plan, folder)
        verdict = await judge(self.case.oracle, run)
        visited = {visit.site for visit in self.good_visits}
        records = await asyncio.to_thread(self._records, run.logs)
        shown = self.prepared.shown(self.good[0], self.reader.entries(records))
        tried = Tried(
            number=number,
            stage=stage,
            first=first,
            window=planned.window,
            size=planned.size,
            fired=run.fired,
            fired_first=run.first,
            answer=verdict.answer,
            reason=verdict.reason,
            shown=shown,
            unlike=unlikeness(self.good_texts, self.failure_texts, keyed(records)),
            visits=tuple(visit for visit in run.visits if visit.site not in visited),
            logs=tuple(map(str, run.logs)),
            seconds=round(run.wall_s, 3),
            problems=run.problems,
        )
        ledger.append(self.folder, {"round": tried_fields(tried)})
        self.tried.append(tried)
        return tried

    def _rounds_left(self) -> int:
        return max(0, self.settings.rounds - len(self.tried))

    def _records(self, logs: Iterable[Path]) -> list[LogRecord]:
        text = "".join(path.read_text(errors="replace") for path in logs if path.exists())
        return read_log(text, self.case.log_pattern)

    # -- in words -----------------------------------------------------------------------------------------------------

    def _event(self, tried: Tried, ranking: tuple[RankedSite, ...] = ()) -> RoundFinished:
        return round_event(self.story, tried, ranking)

    def _reproduction(self, tried: Tried) -> Reproduction:
        repeats = self._repeats.get(tried.number, ())
        return reproduction_of(self.story, tried, repeats=len(repeats), repeated=self._held(tried))


def _learn(explorer: Explorer, tried: Tried) -> None:
    fired = tried.fired.choice if tried.fired is not None else None
    explorer.learn(Round(tried.window, tried.size), fired, tried.shown, tried.visits)


def _likeness(tried: Tried) -> tuple[int, int]:
    """The smaller, the more a run's log is like the failure log; of equal ones the earlier."""
    return tried.unlike, tried.number


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _remove(folder: Path) -> None:
    """What an interrupted round left."""
    if folder.exists():
        shutil.rmtree(folder)


def _plan(program: Program, folder: Path) -> dict[str, Any]:
    files: dict[str, list[list[Any]]] = {}
    for number, site in enumerate(program.sites):
        row = [number, site.kind.value, site.line, site.column, site.end_line, site.end_column]
        files.setdefault(str(Path(site.path).resolve()), []).append(row)
    return {"files": files, "choices": [], "trace": True, "cache": str((folder / "cache").absolute())}


def _fingerprint(case: Case, settings: SearchSettings, program: Program) -> dict[str, Any]:
    """What must be the same for a search to go on, by the names of the options."""
    return {
        "source": list(case.sources),
        "content of the source": _digest(repr(program.sites)),
        "log": _digest(case.failure_log),
        "run": list(case.workload.command),
        "oracle": str(case.oracle),
        "strategy": str(settings.explorer.strategy),
        "faults": sorted(settings.kinds),
    }

"""A first case.yaml: proposes what its user has to say, by one run without faults; and tells whether it will do."""

from dataclasses import dataclass, replace
from pathlib import Path

from cutset.app.reproduce import FAILURE_LOG, FRONT_ENDS, write_private
from cutset.config.case import (
    STANDARD_INPUT,
    CaseFile,
    anchored,
    build_case,
    build_workload,
    case_text,
    find_command,
    language_of,
    read_failure_log,
)
from cutset.config.workload_command import WorkloadCommand
from cutset.errors import UsageError
from cutset.model.reproduction.event import OracleAnswer
from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import Language
from cutset.process.keeper import Ending
from cutset.report.replaying import from_here
from cutset.reproduce.front_end import FrontEnd, ProposedSource
from cutset.reproduce.jvm import proposals as of_jvm
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.oracle.expression import Oracle, judge, parse_oracle
from cutset.reproduce.oracle.proposals import ProposedOracle, proposed_oracles
from cutset.reproduce.oracle.terms import told_by_a_log
from cutset.reproduce.python import proposals as of_python
from cutset.reproduce.rounds.harness import ArmedRound
from cutset.reproduce.rounds.runner import RoundRecord, how_it_ended, last_words, run_round

_PROPOSALS = {Language.PYTHON: of_python.proposed_sources, Language.JVM: of_jvm.proposed_sources}
_HEAD = "# `cutset reproduce {name}` looks for the fault behind this failure. Names of files are as seen from here.\n"


@dataclass(frozen=True, slots=True)
class FirstRun:
    """The workload once, without faults, beside the failure log."""

    log: Path  # a copy of the failure log
    failure: tuple[LogRecord, ...]  # its entries
    language: Language
    command: WorkloadCommand
    run: RoundRecord

    @property
    def front_end(self) -> FrontEnd:
        return FRONT_ENDS[self.language]


@dataclass(frozen=True, slots=True)
class CaseCheck:
    good: bool | None  # None: it cannot be told
    text: str


def refuse_existing_case(out: Path) -> None:
    if out.exists():
        raise UsageError(f"`{out}` is there already", hint="Name another file: `cutset reproduce --init other.yaml`")


def refuse_symptom(oracle: str) -> None:
    parse_oracle(oracle)


def refuse_case(given: CaseFile, first: FirstRun) -> None:
    """What no search would begin with."""
    build_case(anchored(replace(given, log=str(first.log)), Path.cwd()))


async def run_first(given: CaseFile, folder: Path) -> FirstRun:
    """In a folder that its caller removes."""
    language = language_of(given)
    case, front_end = anchored(given, Path.cwd()), FRONT_ENDS[language]
    dialect = front_end.dialect
    text, command = read_failure_log(case.log or ""), find_command(case)
    log = folder / FAILURE_LOG
    write_private(log, text)
    failure = read_log(text, formats_of(text, pattern=case.log_pattern, dialect=dialect), dialect=dialect)
    run = await run_round(build_workload(case, command.words), ArmedRound(), folder / "run", front_end)
    return FirstRun(log, tuple(failure), language, command, run)


async def symptoms_to_choose_from(first: FirstRun) -> list[ProposedOracle]:
    """That do not hold without a fault."""
    proposed = proposed_oracles(first.log.read_text(encoding="utf-8"), first.failure, first.front_end.dialect)
    answers = [(await judge(each.oracle, first.run, first.front_end.dialect)).answer for each in proposed]
    return [each for each, answer in zip(proposed, answers, strict=True) if answer is OracleAnswer.NO]


def sources_to_choose_from(first: FirstRun) -> list[ProposedSource]:
    command, proposed = first.command, _PROPOSALS[first.language]
    found = proposed(first.failure, command.scripts, command.modules, command.search_path)
    return [replace(each, name=_from_here(each.name)) for each in found]


def _from_here(name: str) -> str:
    """A path inside the current folder as that of a case file is written; all else as it is."""
    path = from_here(Path(name))
    return f"./{path}" if Path(name).is_absolute() and not path.is_absolute() else name


async def check_case(given: CaseFile, first: FirstRun) -> list[CaseCheck]:
    """What a search would refuse, and whether the oracle recognises the failure that there was."""
    oracle = parse_oracle(given.oracle or "")
    good = await judge(oracle, first.run, first.front_end.dialect)
    says = {OracleAnswer.YES: (False, "holds"), OracleAnswer.CANNOT_TELL: (None, "cannot tell")}
    is_good, word = says.get(good.answer, (True, "does not hold"))
    said = last_words(first.run)
    fails = f"fails: {how_it_ended(first.run)}{said and f', after `{said}`'}"
    how = f"succeeds, in {first.run.wall_s:.1f} s" if first.run.succeeded else fails
    return [
        CaseCheck(first.run.succeeded, f"without a fault, the workload {how}"),
        CaseCheck(is_good, f"without a fault, the oracle {word}: {good.reason}"),
        await _recognised(oracle, first),
    ]


async def _recognised(oracle: Oracle, first: FirstRun) -> CaseCheck:
    told = told_by_a_log(oracle)
    if told is None:
        return CaseCheck(None, "a log alone does not tell whether the oracle recognises the failure")
    failed = replace(first.run, ended=Ending.EXITED, outputs=(first.log,), logs=(first.log,))
    seen = await judge(told, failed, first.front_end.dialect)
    is_seen = seen.answer is OracleAnswer.YES
    return CaseCheck(
        is_seen, f"the oracle {'recognises' if is_seen else 'does not recognise'} the failure log: {seen.reason}"
    )


def write_first_case(out: Path, given: CaseFile, first: FirstRun) -> None:
    """What no search would begin with is not written. A log from a pipe is kept beside it."""
    refuse_case(given, first)
    refuse_existing_case(out)
    try:
        if given.log == STANDARD_INPUT:
            kept = out.with_name(FAILURE_LOG)
            if kept.exists():
                hint = "Rename it, or name it with `--log`"
                raise UsageError(f"The log of the pipe would be kept in `{kept}`, which is there already", hint=hint)
            write_private(kept, first.log.read_text(encoding="utf-8"))
            given = replace(given, log=str(kept))
        is_here = out.absolute().parent == Path.cwd()
        text = case_text(given if is_here else anchored(given, Path.cwd()))
        write_private(out, _HEAD.format(name=out) + text)
    except OSError as error:
        raise UsageError(f"Cannot write `{out}`: {error.strerror}", hint="Name another file") from None

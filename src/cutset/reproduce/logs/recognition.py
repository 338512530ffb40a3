"""What a log record shows of the program: the call that wrote it, the places its traceback leads to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.statements import LogStatement, StatementIndex, statement_of

SAYS = " says "  # between the key of a statement and what it says


@dataclass(frozen=True, slots=True)
class Origin:
    """The last frame of a traceback that is in the analysed code."""

    module: str
    function: int  # its row in the tables of the program
    line: int
    type: str  # of the exception, as the traceback names it
    context: str = ""  # the calling context that the traceback shows, as in `Visit`, out to where it was caught

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


@dataclass(frozen=True, slots=True)
class Sighting:
    key: str
    statement: LogStatement | None
    origins: tuple[Origin, ...] = ()
    missing: bool = False  # it is the absence of the record that is to be explained: good runs have it
    caught: str = ""  # the exception that the record tells of, which the handler that wrote it may have caught


def sightings(record: LogRecord, statements: StatementIndex, origins: Iterable[Origin]) -> list[Sighting]:
    return seen_by(statement_of(record, statements), origins)


def seen_by(statement: LogStatement | None, origins: Iterable[Origin], caught: str = "") -> list[Sighting]:
    """By its statement, and by its traceback; none if the analysed code has no part in the record.

    They are two, as the same message may come without a traceback, and as another thread's can be taken for its own. A
    key is the same for the same cause at the same place: what a message says was caught is part of it.
    """
    found = tuple(origins)
    told = f"{SAYS}{caught}" if caught else ""
    seen = [Sighting(f"{statement.key}{told}", statement, caught=caught)] if statement else []
    return [*seen, Sighting(f"raised at {found[0]}", None, found)] if found else seen


def located(record: LogRecord, seen: Iterable[Sighting]) -> LogRecord:
    """Its exception is raised where it leaves the analysed code: a fault arises there, and not deep in a library."""
    origins = [origin for each in seen for origin in each.origins]
    return replace(record, raised=f"{origins[-1].type} raised at {origins[-1]}") if origins else record

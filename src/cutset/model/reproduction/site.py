"""Places in source code where something can be made to happen, executions of them, and faults there (ANDURIL §4)."""

from dataclasses import dataclass
from enum import StrEnum


class SiteKind(StrEnum):
    CALL = "call"  # of code outside the analysed packages: it raises in place of running
    AWAIT = "await"  # of something that is no call: a future, a task
    RAISE = "raise"  # a `raise` statement of the analysed code: it is reached in place of what goes before


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place where an exception can be made to arise."""

    module: str
    function: str  # its qualified name, without `<locals>`
    expression: str  # what is called, awaited or raised, on one line
    ordinal: int  # 0 for the first such expression in the function, in order of appearance
    kind: SiteKind
    path: str
    line: int
    column: int  # as in `ast`: in bytes of UTF-8, from 0
    end_line: int
    end_column: int

    def __str__(self) -> str:
        ordinal = f"#{self.ordinal}" if self.ordinal else ""
        return f"{self.module}::{self.function}::{self.expression}{ordinal}"


class FaultKind(StrEnum):
    """What is made to happen at a site. ANDURIL has exceptions alone."""

    EXCEPTION = "exception"
    HANG = "hang"
    RETURN = "return"  # a wrong value: nothing, less than was asked for, an error code
    DELAY = "delay"
    CRASH = "crash"  # of the process


@dataclass(frozen=True, slots=True, order=True)
class Visit:
    """One execution of a site."""

    site: int  # its number in the list that the run was given
    occurrence: int  # 1 for the first of its process
    log_lines: int  # that the run's log had by then, whoever wrote them
    process: int  # 0 for the workload itself, then in order of their start
    thread: str  # of the thread, or of the asyncio task in it
    within: str = ""  # its calling context: functions of the analysed code, `queue.py:push < crawl.py:run`
    nth: int = 0  # 1 for the first of its process in that context; 0: not told


@dataclass(frozen=True, slots=True, order=True)
class SiteFault:
    """A fault that a round may fire: it fires the first of its window that occurs, and no other."""

    site: int
    occurrence: int  # 0: any
    effect: str  # what makes the exception, as in `OSError(104, 'reset')`; or hang(), delay(2.5), crash(), return(None)
    within: str = ""  # the calling context in which occurrences are counted; "": in all of them together


@dataclass(frozen=True, slots=True)
class FiredFault:
    """One that fired, and the circumstances."""

    site: Site
    number: int  # of the site, among those of the program
    occurrence: int  # of the site in its process
    effect: str  # as in `SiteFault`
    why: str  # this effect was thought of
    log_lines: int  # as in `Visit`
    process: int  # 0 for the workload itself, then in order of their start
    thread: str
    stack: tuple[str, ...]  # `path:line in function`, innermost frame last
    failure_line: int | None = None  # about where in the failure log it comes; None: that is not known
    within: str = ""  # as in `Visit`
    nth: int = 0

    @property
    def at_site(self) -> SiteFault:
        """Named by its calling context, where that is known: what else goes on there does not shift the count."""
        if self.within and self.nth:
            return SiteFault(self.number, self.nth, self.effect, self.within)
        return SiteFault(self.number, self.occurrence, self.effect)

    def __str__(self) -> str:
        return f"{self.effect} at {self.site}, occurrence {self.occurrence}"

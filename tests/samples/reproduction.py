"""A queue on disk that loses its work for good, since one write of its index failed; and how that was found."""

from dataclasses import replace
from pathlib import Path

from cutset.model.reproduction.log import LogComparison
from cutset.model.reproduction.result import (
    CaseSummary,
    CausalKind,
    CausalStep,
    FailureMessage,
    LogAgreement,
    LogLine,
    Reproduction,
    ReproductionResult,
)
from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.reproduce.logs.side_by_side import compare_logs
from cutset.reproduce.python.log_dialect import PythonLogs

SOURCE = """\
class DiskQueue:
    def push(self, item):
        try:
            self._write_index()
        except OSError as error:
            log.error("cannot write the index: %s", error)
            self.broken = True

    def _write_index(self):
        with open("index", "w") as file:
            file.write(
                str(len(self.items))
            )
"""
FAILURE_LOG = """\
2026-11-16 03:00:00,001 INFO [MainThread] diskqueue: pushed item-0
2026-11-16 03:00:00,002 INFO [MainThread] diskqueue: pushed item-1
2026-11-16 03:00:00,003 ERROR [MainThread] diskqueue: cannot write the index: [Errno 28] No space left on device
Traceback (most recent call last):
  File "diskqueue.py", line 11, in _write_index
OSError: [Errno 28] No space left on device
2026-11-16 03:00:00,005 WARNING [MainThread] diskqueue: queue is read-only, dropping item-3
2026-11-16 03:00:00,006 WARNING [MainThread] diskqueue: queue is read-only, dropping item-4
2026-11-16 03:00:00,007 INFO [MainThread] diskqueue: compacted
"""
RUN_LOG = """\
2026-11-17 09:12:00,101 INFO [MainThread] diskqueue: pushed item-0
2026-11-17 09:12:00,102 INFO [MainThread] diskqueue: pushed item-1
2026-11-17 09:12:00,103 ERROR [MainThread] diskqueue: cannot write the index: [Errno 5] Input/output error
Traceback (most recent call last):
  File "diskqueue.py", line 11, in _write_index
OSError: [Errno 5] Input/output error
2026-11-17 09:12:00,105 WARNING [MainThread] diskqueue: queue is read-only, dropping item-3
2026-11-17 09:12:00,106 WARNING [MainThread] diskqueue: queue is read-only, dropping item-4
2026-11-17 09:12:00,107 WARNING [MainThread] diskqueue: not compacted
"""

WRITE = CausalStep(CausalKind.EXTERNAL, "diskqueue", "DiskQueue._write_index", 11, "file.write", observed=True)
ESCAPE = CausalStep(CausalKind.INTERNAL, "diskqueue", "DiskQueue.push", 4, "self._write_index", observed=True)
HANDLER = CausalStep(CausalKind.HANDLER, "diskqueue", "DiskQueue.push", 5, "except OSError", observed=True)
LOG_ERROR = CausalStep(CausalKind.LOCATION, "diskqueue", "DiskQueue.push", 6, "log.error", observed=True)
BREAK = CausalStep(CausalKind.LOCATION, "diskqueue", "DiskQueue.push", 7, "self.broken = True", observed=False)
BROKEN = CausalStep(CausalKind.CONDITION, "diskqueue", "DiskQueue.push", 3, "self.broken")

CASE = CaseSummary(("diskqueue",), ("python", "workload.py"), "log:kept 3", log_lines=9)
MESSAGES = (
    FailureMessage(3, "cannot write the index: [Errno 28]", True, False, (WRITE, ESCAPE, HANDLER, LOG_ERROR)),
    FailureMessage(7, "queue is read-only, dropping item", True, False, (WRITE, ESCAPE, HANDLER, BREAK, BROKEN)),
    FailureMessage(8, "queue is read-only, dropping item", True, False, (WRITE, ESCAPE, HANDLER, BREAK, BROKEN)),
    FailureMessage(9, "compacted", False, False, ()),
    FailureMessage(9, "pushed item", True, True, (WRITE,)),
)

AGREEMENT = LogAgreement(
    explained=4,
    lacking=(LogLine(9, "compacted"),),
    added=(LogLine(9, "not compacted"),),
    values=1,
    otherwise=(LogLine(3, "cannot write the index: [Errno 28] No space left on device"),),
)


def fault(path: str = "diskqueue.py", **changed: object) -> FiredFault:
    site = Site("diskqueue", "DiskQueue._write_index", "file.write", 0, SiteKind.CALL, path, 11, 12, 13, 13)
    fields: dict[str, object] = {
        "site": site,
        "number": 4,
        "occurrence": 3,
        "effect": "OSError(28, 'No space left on device')",
        "why": "the log names it",
        "log_lines": 2,
        "process": 0,
        "thread": "MainThread",
        "failure_line": 3,
        "stack": ("workload.py:7 in <module>", "diskqueue.py:4 in push", "diskqueue.py:11 in _write_index"),
    }
    return FiredFault(**(fields | changed))  # type: ignore[arg-type]


def reproduction(folder: Path, *faults: FiredFault, **changed: object) -> Reproduction:
    fields: dict[str, object] = {
        "faults": faults or (fault(),),
        "round": 7,
        "reason": "line 9 of the output matches",
        "folder": folder,
        "repeats": 2,
        "repeated": 2,
        "messages": MESSAGES,
        "unlike": 2,
        "agreement": AGREEMENT,
    }
    return Reproduction(**(fields | changed))  # type: ignore[arg-type]


def faithful(folder: Path, *faults: FiredFault, **changed: object) -> Reproduction:
    """Whose log is the failure log's."""
    messages = tuple(replace(message, shown=True) for message in MESSAGES)
    fields: dict[str, object] = {"unlike": 0, "agreement": LogAgreement(explained=5), "messages": messages}
    return reproduction(folder, *faults, **(fields | changed))


def result(
    best: Reproduction | None, *alternatives: Reproduction, first: Reproduction | None = None
) -> ReproductionResult:
    return ReproductionResult(CASE, best, alternatives, first or best, 12, 34.4, "12 rounds tried 11 faults at 5 sites")


def comparison(found: Reproduction, failure_log: str = FAILURE_LOG) -> LogComparison:
    return compare_logs(failure_log, found, None, PythonLogs())


def sample(folder: Path) -> ReproductionResult:
    """With the source and the run's log in the folder."""
    path = folder / "diskqueue.py"
    path.write_text(SOURCE)
    (folder / "run.log").write_text(RUN_LOG)
    return result(reproduction(folder, fault(str(path))))

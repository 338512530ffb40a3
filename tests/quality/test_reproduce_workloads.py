"""Programs of many kinds that log in many ways, and the disk that was full for one order: the place of it is found.

The failure log is of a run in which it really was: `order-5` leads to `/dev/full`.
"""

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.samples.interpreters import interpreter

from cutset.app.reproduce import plan_reproduction, reproduce
from cutset.config.case import CaseFile
from cutset.model.reproduction.event import ReproductionFinished
from cutset.model.reproduction.result import Grade, ReproductionResult

PROGRAMS = Path(__file__).parents[1] / "samples" / "workloads"
MOST, FEW = 40, 4  # rounds, in all and in vain after a success: these are about kinds of programs, not long searches


def search(
    folder: Path, run: Sequence[str], source: Sequence[str], oracle: str, python: str, *, closer: int = FEW
) -> ReproductionResult:
    """Of what Python is told, and the modules in which the fault may be."""
    environment = {
        "PYTHONPATH": str(PROGRAMS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # with them, it takes a second to start
    }
    incident = folder / "incident"
    incident.mkdir()
    (incident / "order-5").symlink_to("/dev/full")
    command = [python, *(str(PROGRAMS / word) if word.endswith(".py") else word for word in run)]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    failed = subprocess.run(command, cwd=incident, env=environment, **output, timeout=60, check=False)
    (folder / "failure.log").write_bytes(failed.stdout)
    plan = plan_reproduction(
        CaseFile(
            run=shlex.join(command),
            source=tuple(str(PROGRAMS / f"{name}.py") for name in source),
            log=str(folder / "failure.log"),
            oracle=oracle,
            env=environment,
            timeout="20s",
            rounds=MOST,
            closer=closer,
        ),
        store=folder / "store",
    )

    async def result() -> ReproductionResult:
        (found,) = [event.result async for event in reproduce(plan) if isinstance(event, ReproductionFinished)]
        return found

    return asyncio.run(result())


def messages(log: Path) -> list[str]:
    """Whoever logs them."""
    return re.findall(r"(?:outbox|prefork|root): (.*)", log.read_text())


def check(result: ReproductionResult, site: str, *, other_order: bool = False) -> None:
    """`other_order`: it loses another order than the incident, or others as well, or in another order: not its log."""
    assert result.best is not None, result.summary
    (fault,) = result.best.faults
    assert str(fault.site) == site
    assert fault.effect.startswith("OSError(28")
    assert result.best.unlike == 0 or other_order, result.best.agreement
    assert result.grade is Grade.LOG or other_order, result.best.agreement
    assert result.best.repeated == result.best.repeats > 0


LOST, OUTBOX = "log:orders are lost", "outbox::keep::path.write_text"
KINDS = {
    "a task of asyncio": (["drive_tasks.py"], ["tasks"], "log:nobody takes orders", "tasks::keep::path.write_text"),
    "a thread": (["drive_threads.py"], ["threads"], "log:orders are left", "threads::keep::path.write_text"),
    "a pre-fork server": (["drive_prefork.py"], ["prefork", "outbox"], LOST, OUTBOX),
    "a worker as Celery's": (["drive_worker.py"], ["worker"], "log:tasks are left", "worker::keep::path.write_text"),
    **{
        f"{kind} by {method}": (["drive_processes.py", kind, method], ["processes", "outbox"], LOST, OUTBOX)
        for kind, methods in {
            "Process": ("fork", "spawn", "forkserver"),
            "Pool": ("fork", "spawn"),
            "ProcessPoolExecutor": ("fork", "spawn"),
        }.items()
        for method in methods
    },
}
# Two processes take orders as they come: the n-th that one of them gets is another order each time.
RACING = ("a pre-fork server", "Pool", "ProcessPoolExecutor")


@pytest.mark.parametrize("kind", KINDS)
def test_the_fault_is_found_in(kind: str, tmp_path: Path) -> None:
    run, source, oracle, site = KINDS[kind]
    result = search(tmp_path, run, source, oracle, sys.executable)
    assert result.best is not None, result.summary
    differs = messages(tmp_path / "failure.log") != messages(result.best.folder / "run.log")
    check(result, site, other_order=kind.startswith(RACING) and differs)


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(9, 15)])
@pytest.mark.parametrize("kind", ["a task of asyncio", "a thread", "Process by spawn"])
def test_the_fault_is_found_on_python(version: str, kind: str, tmp_path: Path) -> None:
    run, source, oracle, site = KINDS[kind]
    check(search(tmp_path, run, source, oracle, interpreter(version)), site)


FORMATS = {
    **{
        name: (["drive_outbox.py", name], "outbox", OUTBOX)
        for name in ("plain", "celery", "airflow", "bare", "json", "uvicorn", "django")
    },
    **{
        f"{library} as {name}": ([f"drive_outbox_{library}.py", name], f"outbox_{library}", "")
        for library, names in {"structlog": ("console", "json"), "loguru": ("text", "json")}.items()
        for name in names
    },
    "own logger": (["drive_outbox_own_logger.py"], "outbox_own_logger", ""),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_fault_is_found_from_a_log_in_the_format(name: str, tmp_path: Path) -> None:
    run, module, site = FORMATS[name]
    result = search(tmp_path, run, [module], LOST, sys.executable)
    check(result, site or f"{module}::Outbox.keep::path.write_text")


PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "suite.py"]


@pytest.mark.parametrize(
    "options",
    [[], ["-q", "--tb=native"], ["-o", "log_cli=true", "-o", "log_cli_level=INFO"]],
    ids=" ".join,
)
def test_the_fault_is_found_by_a_suite_of_pytest_with(options: list[str], tmp_path: Path) -> None:
    """What it logs is shown at the end, so that nothing tells when it was: that takes more rounds."""
    result = search(tmp_path, [*PYTEST, *options], ["outbox"], "exit:1", sys.executable, closer=10)
    check(result, OUTBOX)

"""One check: what it finds, by the name under which it may be excepted, and the list of today's exceptions.

A list is a file in `checks/exceptions`, one name per line. It may only shrink: what is found and not listed is an
error, and so is what is listed and no longer found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

EXCEPTIONS = Path(__file__).parent / "exceptions"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    find: Callable[[Path], dict[str, str]]  # what is wrong in the repository, by the name that a list would have
    remedy: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    check: Check
    new: dict[str, str]
    settled: tuple[str, ...]  # still listed, no longer found


def run_check(check: Check, root: Path, exceptions: Path = EXCEPTIONS) -> CheckResult:
    found, listed = check.find(root), read_list(check, exceptions)
    new = {name: message for name, message in sorted(found.items()) if name not in listed}
    return CheckResult(check, new, tuple(sorted(listed - found.keys())))


def read_list(check: Check, exceptions: Path = EXCEPTIONS) -> set[str]:
    path = exceptions / f"{check.name}.txt"
    return set(path.read_text().split()) if path.exists() else set()


def shrink_list(result: CheckResult, exceptions: Path = EXCEPTIONS) -> None:
    """Takes from the list what is settled. Nothing is ever added by a command."""
    remaining = sorted(read_list(result.check, exceptions) - set(result.settled))
    (exceptions / f"{result.check.name}.txt").write_text("".join(f"{name}\n" for name in remaining))

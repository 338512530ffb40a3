"""Writes the folder that replays a reproduced failure, with neither the search nor Cutset.

replay.py              the case as plain data, and a call of `replay.main`
test_reproduction.py   a pytest test that fails until the bug is fixed
vendor/                the modules that the replay needs
"""

import ast
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from pprint import pformat
from typing import Any

from cutset.reproduce.oracle import Both, Check, Either, Not, Oracle
from cutset.reproduce.result import Fault
from cutset.reproduce.settings import Case

_PACKAGES = ("cutset", "cutset_agent")
_SCRIPT = '''"""Replays a failure.

    python replay.py [--python PATH] [--keep] [--json]

Exit code: 1 the failure is there, 0 it is not, 3 cannot tell. Needs Python 3.11 or later, and of Cutset, which found
it, only what is in `vendor`; the workload may run on another Python.
"""

import sys
from pathlib import Path

# What is made to happen, where, and at which visit of one process to that place. Sites are found by module, function,
# expression and ordinal (0: the first such expression of the function); path and line are where they were.
{faults}

# `env` is added to the environment; without a `cwd`, each run has a new folder.
{workload}

# What recognises the failure.
{oracle}

if sys.version_info < (3, 11):
    sys.stderr.write("replay.py needs Python 3.11 or later, this is " + sys.version.split()[0] + "\\n")
    sys.exit(3)
sys.path.insert(0, str(Path(__file__).resolve().parent / "vendor"))

from cutset.reproduce.replay import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(FAULTS, WORKLOAD, ORACLE))
'''


def write_replay(folder: Path, case: Case, faults: Sequence[Fault]) -> Path:
    """Returns the script. What an earlier replay left in the folder is overwritten."""
    vendor = folder / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    for module, path in _needed("cutset.reproduce.replay").items():
        name = module.replace(".", "/") + ("/__init__.py" if path.name == "__init__.py" else ".py")
        _copy(path, vendor / name)
    agent = _file_of("cutset_agent").parent
    for path in agent.glob("sites/**/*.py"):  # rounds copy them for the workload
        _copy(path, vendor / "cutset_agent" / path.relative_to(agent))
    _copy(Path(__file__).parent / "replay_folder/test_reproduction.py", folder / "test_reproduction.py")
    script = folder / "replay.py"
    script.write_text(
        _SCRIPT.format(
            faults=_assignment("FAULTS", [_fault_row(fault) for fault in faults]),
            workload=_assignment("WORKLOAD", _workload_row(case)),
            oracle=_assignment("ORACLE", str(_with_absolute_files(case.oracle))),
        ),
        encoding="utf-8",
    )
    return script


def _fault_row(fault: Fault) -> dict[str, Any]:
    site = fault.site
    names = ("module", "function", "expression", "ordinal", "path", "line")
    row = {name: getattr(site, name) for name in names} | {"kind": site.kind.value}
    return {"effect": fault.effect, "occurrence": fault.occurrence, "site": row}


def _workload_row(case: Case) -> dict[str, Any]:
    workload = case.workload
    return {
        "command": list(workload.command),
        "cwd": None if workload.cwd is None else str(workload.cwd.absolute()),
        "env": dict(workload.env),
        "timeout_s": workload.timeout_s,
        "quiet_s": workload.quiet_s,
        "log": workload.log,
    }


def _with_absolute_files(oracle: Oracle) -> Oracle:
    """The replay may be started in any folder."""
    match oracle:
        case Check("python", argument):
            name, _, function = argument.rpartition("::")
            return Check("python", f"{Path(name).absolute()}::{function}")
        case Not(part):
            return Not(_with_absolute_files(part))
        case Both(parts) | Either(parts):
            return replace(oracle, parts=tuple(map(_with_absolute_files, parts)))
    return oracle


def _assignment(name: str, value: object) -> str:
    start = f"{name} = "
    return start + pformat(value, width=120 - len(start), sort_dicts=False).replace("\n", "\n" + " " * len(start))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


# -- what the replay imports -------------------------------------------------------------------------------------------


def _needed(start: str) -> dict[str, Path]:
    """A module and all of ours that it imports, near and far, with the packages around them."""
    found: dict[str, Path] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module] = _file_of(module)
            waiting += [*_imports(found[module]), *filter(None, [module.rpartition(".")[0]])]
    return found


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in _PACKAGES:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = [module for module in modules if _is_package(node.module) and find_spec(module)]
            yield from inside or [node.module]


def _is_package(module: str) -> bool:
    return _file_of(module).name == "__init__.py"


def _file_of(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None, f"{module} is gone"
    assert spec.origin is not None
    return Path(spec.origin)

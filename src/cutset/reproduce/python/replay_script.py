"""Writes the folder that replays a reproduced failure, with neither the search nor Cutset.

replay.py              the case as plain data, and a call of `replay.main`
test_reproduction.py   a pytest test that fails until the bug is fixed
vendor/                the modules that the replay needs
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.oracle.expression import with_files
from cutset.reproduce.python.locate import code_around
from cutset.reproduce.python.source import is_path
from cutset.reproduce.replay.vendor import copy_file, copy_needed, file_of
from cutset.reproduce.settings import FailureCase

ENTRY = "cutset.reproduce.python.replay"
_SCRIPT = '''"""Replays a failure.

    python replay.py [--python PATH] [--keep] [--json]

Exit code: 1 the failure is there, 0 it is not, 3 cannot tell. Needs Python 3.11 or later, and of Cutset, which found
it, only what is in `vendor`; the workload may run on another Python.
"""

import sys
from pathlib import Path

# What is made to happen, where, and at which visit of one process to that place: the nth within a calling context, or
# by occurrence in all together, should the context no longer come up. Sites are found by their code: module, function,
# expression and what was around; of several such expressions in the function, ordinal, path and line were theirs.
{faults}

# Whose functions make calling contexts, and where a site is looked for that is not in its module any more.
{sources}

# `env` is added to the environment; without a `cwd`, each run has a new folder.
{workload}

# What recognises the failure.
{oracle}

if sys.version_info < (3, 11):
    sys.stderr.write("replay.py needs Python 3.11 or later, this is " + sys.version.split()[0] + "\\n")
    sys.exit(3)
sys.path.insert(0, str(Path(__file__).resolve().parent / "vendor"))

from {entry} import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(FAULTS, WORKLOAD, ORACLE, SOURCES))
'''


def write_replay(folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
    """Returns the script. What an earlier replay left in the folder is overwritten."""
    vendor = folder / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    copy_needed(ENTRY, vendor)
    agent = file_of("cutset_agent").parent
    for path in agent.glob("sites/**/*.py"):  # rounds copy them for the workload
        copy_file(path, vendor / "cutset_agent" / path.relative_to(agent))
    copy_file(Path(__file__).parent / "replay_folder/test_reproduction.py", folder / "test_reproduction.py")
    script = folder / "replay.py"
    script.write_text(
        _SCRIPT.format(
            entry=ENTRY,
            faults=_assignment("FAULTS", [_fault_row(fault) for fault in faults]),
            sources=_assignment("SOURCES", [_source(name) for name in (*case.sources, *case.drivers)]),
            workload=_assignment("WORKLOAD", _workload_row(case)),
            # The replay may be started in any folder.
            oracle=_assignment("ORACLE", str(with_files(case.oracle, lambda name: str(Path(name).absolute())))),
        ),
        encoding="utf-8",
    )
    return script


def _fault_row(fault: FiredFault) -> dict[str, Any]:
    site = fault.site
    names = ("module", "function", "expression", "ordinal", "path", "line")
    row = {name: getattr(site, name) for name in names} | {"kind": site.kind.value}
    around = list(code_around(Path(site.path), site.line, site.end_line))
    when = {"within": fault.within, "nth": fault.nth, "occurrence": fault.occurrence}
    return {"effect": fault.effect, **when, "site": row, "around": around}


def _source(name: str) -> str:
    return str(Path(name).absolute()) if is_path(name) else name


def _workload_row(case: FailureCase) -> dict[str, Any]:
    workload = case.workload
    return {
        "command": list(workload.command),
        "cwd": None if workload.cwd is None else str(workload.cwd.absolute()),
        "env": dict(workload.env),
        "timeout_s": workload.timeout_s,
        "quiet_s": workload.quiet_s,
        "log": workload.log,
    }


def _assignment(name: str, value: object) -> str:
    start = f"{name} = "
    return start + pformat(value, width=120 - len(start), sort_dicts=False).replace("\n", "\n" + " " * len(start))

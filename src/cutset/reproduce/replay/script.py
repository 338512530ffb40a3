"""The script that replays a failure: the case as plain data, and a call of what a language has for it."""

from collections.abc import Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.oracle.expression import Oracle, with_files
from cutset.reproduce.rounds.harness import Workload

_SCRIPT = '''"""Replays a failure.

    python replay.py {options} [--keep] [--json]

Exit code: 1 the failure is there, 0 it is not, 3 cannot tell. Needs Python 3.11 or later, and of Cutset, which found
it, only what is in `vendor`; {workload_needs}.
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


def script_text(
    *,
    faults: Sequence[dict[str, Any]],
    workload: Workload,
    oracle: Oracle,
    sources: Sequence[str],
    entry: str,
    options: str,
    workload_needs: str,
) -> str:
    """`faults` are rows, of `fault_row`; `entry` is the module whose `main` is called."""
    return _SCRIPT.format(
        entry=entry,
        options=options,
        workload_needs=workload_needs,
        faults=_assignment("FAULTS", list(faults)),
        sources=_assignment("SOURCES", list(sources)),
        workload=_assignment("WORKLOAD", _workload_row(workload)),
        # The replay may be started in any folder.
        oracle=_assignment("ORACLE", str(with_files(oracle, lambda name: str(Path(name).absolute())))),
    )


def fault_row(fault: FiredFault, around: Sequence[str]) -> dict[str, Any]:
    site = fault.site
    names = ("module", "function", "expression", "ordinal", "path", "line")
    row = {name: getattr(site, name) for name in names} | {"kind": site.kind.value}
    when = {"within": fault.within, "nth": fault.nth, "occurrence": fault.occurrence}
    return {"effect": fault.effect, **when, "site": row, "around": list(around)}


def _workload_row(workload: Workload) -> dict[str, Any]:
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

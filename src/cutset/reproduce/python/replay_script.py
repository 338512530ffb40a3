"""Writes the folder that replays a reproduced failure, with neither the search nor Cutset.

replay.py              the case as plain data, and a call of `replay.main`
test_reproduction.py   a pytest test that fails until the bug is fixed
vendor/                the modules that the replay needs
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from cutset.model.reproduction.site import FiredFault, Site
from cutset.reproduce.python.locate import code_around
from cutset.reproduce.python.source import is_path
from cutset.reproduce.replay.script import fault_row, script_text
from cutset.reproduce.replay.vendor import copy_file, copy_needed, file_of
from cutset.reproduce.settings import FailureCase

ENTRY = "cutset.reproduce.python.replay"


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
        script_text(
            faults=[fault_row(fault, _around(fault.site)) for fault in faults],
            workload=case.workload,
            oracle=case.oracle,
            sources=[_source(name) for name in (*case.sources, *case.drivers)],
            entry=ENTRY,
            options="[--python PATH]",
            workload_needs="the workload may run on another Python",
        ),
        encoding="utf-8",
    )
    return script


def _around(site: Site) -> tuple[str, ...]:
    return code_around(Path(site.path), site.line, site.end_line)


def _source(name: str) -> str:
    return str(Path(name).absolute()) if is_path(name) else name

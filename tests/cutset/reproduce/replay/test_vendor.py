import subprocess
import sys
from pathlib import Path

from cutset.reproduce.replay.vendor import copy_needed, file_of

ENTRY = "cutset.reproduce.python.replay"


def test_what_a_module_needs_is_enough_to_import_it_and_no_more(tmp_path: Path) -> None:
    copy_needed(ENTRY, tmp_path)

    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {ENTRY}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)

    assert ran.stderr == ""
    ours = {name for name in ran.stdout.split() if name.partition(".")[0] in ("cutset", "cutset_agent")}
    copied = {".".join(path.relative_to(tmp_path).with_suffix("").parts) for path in tmp_path.rglob("*.py")}
    assert {name.removesuffix(".__init__") for name in copied} == ours


def test_a_module_is_found_without_importing_it() -> None:
    assert file_of("cutset.reproduce.replay.vendor").name == "vendor.py"
    assert file_of("cutset_agent").name == "__init__.py"

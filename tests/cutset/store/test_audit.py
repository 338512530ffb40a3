import json
import shutil
import stat
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from cutset.errors import TargetError
from cutset.store.audit import FILE_BYTES, FILES, NAME, AuditEntry, AuditLog, audit_entries, last_entry

ENTRY = AuditEntry(
    1_763_000_000.5, "20261116-031500-482913", "campaign", "local", "anna@laptop", "cart/Get:abort(503)", "0" * 32
)


def numbered(number: int) -> AuditEntry:
    return replace(ENTRY, at=float(number))


def test_an_entry_is_a_line_of_json_in_a_file_of_its_owner(tmp_path: Path) -> None:
    AuditLog(tmp_path).write(ENTRY)
    AuditLog(tmp_path).write(replace(ENTRY, group="control"))

    first, second = (tmp_path / NAME).read_text().splitlines()
    assert json.loads(first) == {name: value for name, value in asdict(ENTRY).items() if name != "group"}
    assert json.loads(second)["group"] == "control"
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert list(audit_entries(tmp_path)) == [ENTRY, replace(ENTRY, group="control")]


def test_lines_of_many_processes_do_not_mix_and_none_is_lost_while_files_are_put_aside(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from cutset.store.audit import *\n"
        "log = AuditLog(Path(sys.argv[1]), file_bytes=20_000, files=100)\n"
        "for number in range(500): log.write(AuditEntry(number, sys.argv[2], 'campaign', 'e', 'b', 'x' * 50, 't'))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), f"run-{each}"]) for each in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4

    found = list(audit_entries(tmp_path))
    assert len(list(tmp_path.iterdir())) > 5
    for each in range(4):
        # Who wrote to a file while it was put aside may have written to the one before: sorted, all are there.
        assert sorted(entry.at for entry in found if entry.run == f"run-{each}") == list(range(500))


def test_a_full_file_is_put_aside_and_so_many_are_kept(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, file_bytes=1000, files=3)
    for number in range(100):
        log.write(numbered(number))

    files = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert set(files) == {NAME, f"{NAME}.1", f"{NAME}.2"}
    assert max(files.values()) <= 1000
    kept = [entry.at for entry in audit_entries(tmp_path)]
    assert kept == [float(number) for number in range(100 - len(kept), 100)]
    assert FILES * FILE_BYTES == 160 * 1024 * 1024


def test_where_the_store_has_gone_nothing_is_written_and_that_is_said(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    log = AuditLog(store)
    log.write(ENTRY)
    shutil.rmtree(store)

    with pytest.raises(TargetError, match="cannot be written to: No such file or directory") as refused:
        log.write(ENTRY)
    assert "Nothing is injected that is not written down" in refused.value.hint
    assert not store.exists()


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.write(numbered(1))
    (tmp_path / NAME).rename(tmp_path / "mine")
    log.write(numbered(2))

    assert list(audit_entries(tmp_path)) == [numbered(2)]


def test_on_a_full_disk_nothing_is_written_and_later_lines_are_whole(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the kernel writes a part of the line, then nothing."""
    script = (
        "import resource, signal, sys; from pathlib import Path; from cutset.errors import TargetError\n"
        "from tests.cutset.store.test_audit import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "log = AuditLog(Path(sys.argv[1])); log.write(numbered(1))\n"
        "size = (Path(sys.argv[1]) / NAME).stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))\n"
        "for _ in range(2):\n"
        "    try: log.write(numbered(2)); sys.exit('written')\n"
        "    except TargetError as error: print(error.message)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "log.write(numbered(3))"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)

    assert "No space left on device" in ended.stdout.splitlines()[0]
    assert "File too large" in ended.stdout.splitlines()[1]
    assert list(audit_entries(tmp_path)) == [numbered(1), numbered(3)]


def test_what_a_run_injected_last_is_found_at_the_end(tmp_path: Path) -> None:
    assert last_entry(tmp_path, ENTRY.run) is None
    log = AuditLog(tmp_path)
    for number in range(1000):
        log.write(numbered(number))
    log.write(replace(ENTRY, run="another", at=7.0))

    assert last_entry(tmp_path, ENTRY.run) == numbered(999)
    assert last_entry(tmp_path, "another") == replace(ENTRY, run="another", at=7.0)
    assert last_entry(tmp_path, "none") is None

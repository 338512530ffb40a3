from dataclasses import replace
from pathlib import Path

import pytest
from tests.cutset.store.test_audit import ENTRY

from cutset.app.audit import read_audit
from cutset.errors import UsageError
from cutset.store.audit import AuditLog


def test_entries_are_of_a_run_and_since_a_moment(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    entries = [replace(ENTRY, at=1.0), replace(ENTRY, at=2.0, run="other"), replace(ENTRY, at=3.0)]
    for entry in entries:
        log.write(entry)

    assert list(read_audit(tmp_path)) == entries
    assert list(read_audit(tmp_path, run="other")) == entries[1:2]
    assert list(read_audit(tmp_path, run=ENTRY.run, since=2.0)) == entries[2:]
    assert list(read_audit(tmp_path, run="none")) == []


def test_where_nothing_was_injected_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no audit log in"):
        read_audit(tmp_path)

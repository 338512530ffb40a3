import json
from dataclasses import asdict, replace
from pathlib import Path

from tests.cutset.store.test_audit import ENTRY
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.store.audit import AuditLog


def shown(store: Path, *arguments: str) -> list[str]:
    result = CliRunner().invoke(app, ["audit", "--store", str(store), *arguments])
    assert result.exit_code == 0, result
    return result.stdout.splitlines()


def test_each_injection_is_a_line(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.write(ENTRY)
    log.write(replace(ENTRY, at=ENTRY.at + 60, run="other", group="control"))

    assert shown(tmp_path) == [
        f"2025-11-13 02:13:20 anna@laptop campaign {ENTRY.run} local cart/Get:abort(503) trace {'0' * 32}",
        f"2025-11-13 02:14:20 anna@laptop campaign other local cart/Get:abort(503) control trace {'0' * 32}",
    ]
    other = replace(ENTRY, at=ENTRY.at + 60, run="other", group="control")
    assert json.loads("".join(shown(tmp_path, "--run", "other", "--json"))) == {"injections": [asdict(other)]}
    assert len(shown(tmp_path, "--since", "2025-11-13T02:14")) == 1
    assert shown(tmp_path, "--since", "1h") == []

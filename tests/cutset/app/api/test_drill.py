from pathlib import Path

import pytest
import yaml
from tests.samples.stuck_circuit import command, record_charge

from cutset.app.api.drill import run_drills
from cutset.errors import UsageError
from cutset.model.drill import DrillVerdict


def test_a_service_that_does_not_recover_is_found_out(tmp_path: Path) -> None:
    record_charge(tmp_path)
    drill = {
        "command": list(command("broken")),
        "ready_line": "ready",
        "recording": str(tmp_path / "recording"),
        "faults": ["status-503"],
        "phases": {"startup": 0.4, "fault": 0.4, "recovery": 1.2, "patience": 0, "rate": 80},
    }
    (tmp_path / "cutset.yaml").write_text(yaml.safe_dump({"drill": drill}))

    (result,) = run_drills(tmp_path / "cutset.yaml", store=tmp_path / "store")

    assert (result.test.fault, result.judgement.verdict) == ("status-503", DrillVerdict.FAILED)


def test_a_configuration_without_drills_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text("requests: [{path: /}]\n")

    with pytest.raises(UsageError, match="drill"):
        run_drills(tmp_path / "cutset.yaml", store=tmp_path / "store")
    assert not (tmp_path / "store").exists()

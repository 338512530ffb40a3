import json
from pathlib import Path

import pytest
import typer
from tests.samples.recorded_campaign import KEY, recorded_campaign

from cutset.cli.check import check_command


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTSET_KEY", raising=False)
    recorded_campaign(Path(".cutset"))


def test_the_latest_campaign_is_proven_again(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as end:
        check_command()

    printed = capsys.readouterr().out
    assert end.value.exit_code == 0
    assert "GET /  exact up to size 3, by " in printed
    assert printed.endswith("chain whole, not authenticated\n")


def test_with_the_key_the_seal_is_verified(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSET_KEY", KEY.decode())
    with pytest.raises(typer.Exit) as end:
        check_command("only", as_json=True)
    assert end.value.exit_code == 0
    assert json.loads(capsys.readouterr().out)["sealed"] is True

    monkeypatch.setenv("CUTSET_KEY", "another")
    with pytest.raises(typer.Exit) as end:
        check_command()
    assert end.value.exit_code == 5
    assert "✗ it is not sealed with this key" in capsys.readouterr().out

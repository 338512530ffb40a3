import json
from pathlib import Path

from tests.cutset.store.test_active import ACTIVE
from typer.testing import CliRunner, Result

from cutset.cli.main import app
from cutset.guards.halting import HaltOrder, give_order
from cutset.store.active import injecting


def run(folder: Path, *arguments: str) -> Result:
    given = ["halt", *arguments, "--store", str(folder / "store"), "-c", str(folder / "cutset.yaml")]
    return CliRunner().invoke(app, given)


def test_it_says_who_was_told_and_what_ends_by_itself(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with injecting(tmp_path / "store", ACTIVE):
        result = run(tmp_path, "--reason", "enough")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"Halted: nothing that uses `{tmp_path / 'store'}` injects any more, or begins to",
        f"  told: impact run-1 of anna@laptop, process {ACTIVE.process}: payment/Charge, 5 %",
        "  no mesh runs beside the configuration: plans under way end with their requests, within seconds",
        "Lift it with `cutset halt --lift`",
    ]


def test_twice_is_once_and_lifting_says_what_was_lifted(tmp_path: Path) -> None:
    give_order(tmp_path / "store", HaltOrder("anna@laptop", 1_763_000_000.0, "checkout [slow]"))

    again, lifted, nothing = run(tmp_path), run(tmp_path, "--lift"), run(tmp_path, "--lift")

    assert again.stdout.startswith("Halted already, by anna@laptop, 2025-11-13 02:13:20 UTC (“checkout [slow]”)\n")
    assert lifted.stdout == (
        "Lifted: what anna@laptop halted, 2025-11-13 02:13:20 UTC (“checkout [slow]”); `--resume` goes on\n"
    )
    assert nothing.stdout == f"`{tmp_path / 'store'}` was not halted\n"
    assert [again.exit_code, lifted.exit_code, nothing.exit_code] == [0, 0, 0]


def test_what_could_not_be_reached_is_said_and_makes_it_exit_with_3(tmp_path: Path) -> None:
    result = run(tmp_path, "--admin", "http://127.0.0.1:9")

    assert result.exit_code == 3
    assert "is not here: what uses it has not been told, only meshes" in result.stdout
    assert "1 thing could not be done:\n  x The mesh at http://127.0.0.1:9 does not answer" in result.stdout


def test_a_machine_reads_the_same(tmp_path: Path) -> None:
    document = json.loads(run(tmp_path, "--reason", "enough", "--json").stdout)

    assert (document["halted"], document["order"]["reason"], document["running"]) == (True, "enough", [])
    assert json.loads(run(tmp_path, "--lift", "--json").stdout)["halted"] is False


def test_a_reason_is_for_halting(tmp_path: Path) -> None:
    assert run(tmp_path, "--lift", "--reason", "x").exit_code != 0

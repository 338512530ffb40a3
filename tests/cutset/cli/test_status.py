import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cutset.store.test_active import ACTIVE
from tests.cutset.store.test_audit import ENTRY
from tests.samples.small_api_server import SmallApiServer
from typer.testing import CliRunner, Result

from cutset.cli.main import app
from cutset.guards.halting import HaltOrder, give_order
from cutset.store.active import injecting
from cutset.store.audit import AuditLog


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


def status(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", *arguments])


def test_without_a_cluster_it_is_about_the_store(alone: Path) -> None:
    result = status()
    assert (result.exit_code, result.stdout) == (0, "Nothing is being injected\n")
    assert json.loads(status("--json").stdout) == {"halted": None, "mesh_switched_off": False, "injecting": []}


def test_who_injects_what_now_is_shown_with_what_was_last(alone: Path) -> None:
    store = alone / ".cutset"
    store.mkdir()
    AuditLog(store).write(replace(ENTRY, run=ACTIVE.run))
    with injecting(store, replace(ACTIVE, since=1_763_000_000.0, until=1_763_000_060.0)):
        result, document = status(), json.loads(status("--json").stdout)

    assert result.exit_code == 0
    first, second, third = result.stdout.splitlines()
    assert first == "impact run-1 in shop: payment/Charge, 5 %"
    assert second == (
        f"  by anna@laptop, process {ACTIVE.process}, since 2025-11-13 02:13:20 UTC, until 2025-11-13 02:14:20 UTC"
    )
    assert third.startswith("  last: cart/Get:abort(503), ")
    assert document["injecting"][0]["last"]["cut"] == "cart/Get:abort(503)"


def test_a_halted_store_is_shown_and_makes_it_exit_with_4(alone: Path) -> None:
    give_order(alone / ".cutset", HaltOrder("anna@laptop", 1_763_000_000.0, "enough"))

    result = status()

    assert result.exit_code == 4
    assert result.stdout == (
        "Halted by anna@laptop, 2025-11-13 02:13:20 UTC: “enough”; `cutset halt --lift` allows injection\n"
        "Nothing is being injected\n"
    )


def test_a_cluster_that_does_not_answer_is_an_error_after_what_is_known_here(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = status("--context", "nowhere")
    assert result.exit_code != 0
    assert result.stdout == "Nothing is being injected\n"


def test_nothing_is_installed_at_first(server: SmallApiServer) -> None:
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 0
    assert result.stdout == (
        "Nothing is being injected\nNo environment is installed\nCollector: absent; MeshConfig does not name it\n"
    )


def test_what_is_installed_is_shown_with_its_state(server: SmallApiServer) -> None:
    CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    result = CliRunner().invoke(app, ["status", "-n", "shop"])
    assert result.exit_code == 0
    assert "shop in shop\n" in result.stdout
    assert "= EnvoyFilter shop/cutset-shop" in result.stdout
    document = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    assert document["current"]


def test_what_is_missing_makes_it_exit_with_1(server: SmallApiServer) -> None:
    CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    del server.stored[next(path for path in server.stored if "telemetries" in path)]
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 1
    assert "x Telemetry shop/cutset-shop missing" in result.stdout

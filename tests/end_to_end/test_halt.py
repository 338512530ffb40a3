"""A hand on the brake: one process explores a real shop, another one ends it."""

import json
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import yaml
from tests.end_to_end.test_explore import CHECKOUT, CUTSET, ENVIRONMENT, experiments, explore

from cutset.app.demo import Boutique
from cutset.inject.local.kill_switch import is_switched_off
from cutset.store.active import active_injections
from cutset.store.audit import AuditEntry, audit_entries
from cutset.store.ledger import open_ledger

NARROW = ("-r", CHECKOUT, "-p", "2")


def begun(config: Path, cwd: Path, *arguments: str) -> "subprocess.Popen[str]":
    """A campaign, once it has made an experiment."""
    command = [*CUTSET, "explore", "-c", str(config), *NARROW, *arguments]
    process = subprocess.Popen(command, cwd=cwd, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not (entries(cwd) and experiments(cwd / ".cutset")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def entries(folder: Path) -> list[AuditEntry]:
    return list(audit_entries(folder / ".cutset"))


def cutset(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CUTSET, *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


def test_halted_from_another_terminal_it_ends_with_4_and_goes_on_once_that_is_lifted(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    config, mesh = boutique[0].config_file, boutique[0].mesh
    process = begun(config, tmp_path)
    (active,) = active_injections(tmp_path / ".cutset")
    shown = json.loads(cutset("status", "--json", cwd=tmp_path).stdout)

    halted = cutset("halt", "--reason", "a test", "-c", str(config), cwd=tmp_path)
    told = entries(tmp_path)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 4, said
    assert "Nothing is injected: halted by" in said
    assert "“a test”" in said
    assert "`cutset halt --lift --store .cutset`" in said
    assert len(entries(tmp_path)) == len(told)  # none was begun after the order
    assert (active.loop, active.process) == ("campaign", process.pid)
    assert shown["injecting"][0]["run"] == active.run
    assert f"process {process.pid}" in halted.stdout
    assert is_switched_off(mesh.admin_url)
    assert active_injections(tmp_path / ".cutset") == []

    before = len(experiments(tmp_path / ".cutset"))
    refused = explore(config, *NARROW, "--resume", cwd=tmp_path)
    assert (refused.returncode, len(experiments(tmp_path / ".cutset"))) == (4, before)
    assert (explore(config, *NARROW, cwd=tmp_path).returncode, len(entries(tmp_path))) == (4, len(told))

    lifted = cutset("halt", "--lift", "-c", str(config), cwd=tmp_path)
    assert lifted.returncode == 0, lifted
    resumed = explore(config, *NARROW, "--resume", cwd=tmp_path)

    assert resumed.returncode == 1, resumed.stderr
    counts = Counter(event.outcome.cut for event in experiments(tmp_path / ".cutset"))
    assert max(counts.values()) == 1
    assert {entry.run for entry in entries(tmp_path)} == {active.run}
    # Each request that carried a fault is in the log, and nothing of the requests themselves.
    injected = {trace for event in experiments(tmp_path / ".cutset") for trace in event.outcome.trace_ids}
    assert injected <= {entry.trace_id for entry in entries(tmp_path)}
    assert b"tracestate" not in (tmp_path / ".cutset" / "audit.jsonl").read_bytes()


def test_a_store_that_vanishes_ends_injection(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    process = begun(boutique[0].config_file, tmp_path)

    shutil.move(tmp_path / ".cutset", tmp_path / "moved")
    _, said = process.communicate(timeout=60)

    assert process.returncode == 4, said
    assert "The guard `audit` ended injection: The audit log at `.cutset/audit.jsonl` cannot be written to" in said


def test_a_guard_of_the_configuration_ends_it_too(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    content = yaml.safe_load(boutique[0].config_file.read_text()) | {"guards": {"max_marked": 5}}
    (tmp_path / "cutset.yaml").write_text(yaml.safe_dump(content))

    ended = explore(tmp_path / "cutset.yaml", *NARROW, cwd=tmp_path)

    assert ended.returncode == 4
    assert "The guard `budget` ended injection: 5 requests were marked, and `max_marked` is 5" in ended.stderr
    assert len(entries(tmp_path)) == 5


def test_ctrl_c_still_ends_it_as_ever(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    process = begun(boutique[0].config_file, tmp_path)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Go on with" in said
    assert active_injections(tmp_path / ".cutset") == []


def test_a_killed_campaign_injects_nothing_and_is_not_shown(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    process = begun(boutique[0].config_file, tmp_path)
    process.kill()
    process.communicate()

    assert cutset("status", cwd=tmp_path).stdout.startswith("Nothing is being injected\n")


def test_a_hardening_is_verified_through_the_same_gate(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    config = boutique[0].config_file
    assert explore(config, *NARROW, cwd=tmp_path).returncode == 1
    known = len(entries(tmp_path))

    verified = cutset("harden", "--verify", "--known-only", "-c", str(config), cwd=tmp_path)
    assert verified.returncode in (0, 1, 3), verified
    rechecks = entries(tmp_path)[known:]
    assert {entry.loop for entry in rechecks} == {"hardening"}

    cutset("halt", cwd=tmp_path)
    with open_ledger(tmp_path / ".cutset") as ledger:
        runs = len(ledger.runs())
        refused = cutset("harden", "--verify", "-c", str(config), cwd=tmp_path)
        assert (refused.returncode, len(ledger.runs())) == (4, runs)
    assert len(entries(tmp_path)) == known + len(rechecks)

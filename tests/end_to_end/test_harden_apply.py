"""Applying a hardening to a system that nobody here would call a shop: it stays healthy, or it is as it was."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard
from tests.samples.small_inn import KEY, Inn, open_inn

from cutset.app.explore import explore
from cutset.config.explore import load_config
from cutset.inject.local.change import change_running_mesh
from cutset.model.hardening import CutRechecked, MeshChanged
from cutset.model.run import Loop
from cutset.store.ledger import open_ledger
from cutset.web.dashboard import Dashboard

ENVIRONMENT = os.environ | {"CUTSET_KEY": KEY.decode()}


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inn, Path]]:
    """The inn, and a ledger with a campaign on it."""
    folder = tmp_path_factory.mktemp("inn")

    async def consume(inn: Inn) -> None:
        async for _ in explore(load_config(inn.config_file), key=KEY, store=folder / "store"):
            pass

    with open_inn(folder) as inn:
        asyncio.run(consume(inn))
        yield inn, folder / "store"


@pytest.fixture
def inn(explored: tuple[Inn, Path], tmp_path: Path) -> Iterator[Inn]:
    """As it was, with the campaign in a ledger of the test's own."""
    inn, store = explored
    shutil.copytree(store, tmp_path / "store")
    original = inn.mesh_file.read_text()
    yield inn
    inn.picky = ""
    if inn.mesh_file.read_text() != original:
        change_running_mesh(inn.mesh_file, original)
    for kept in inn.mesh_file.parent.glob("*.before*"):
        kept.unlink()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def command(inn: Inn, store: Path, *words: str) -> list[str]:
    options = ["-c", str(inn.config_file), "--store", str(store), "--budget", "3", "--apply", "local", *words]
    return [sys.executable, "-m", "cutset", "harden", *options]


def harden(inn: Inn, store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(inn, store, *words), env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


def page(inn: Inn, path: str) -> dict[str, str]:
    with urllib.request.urlopen(inn.url + path, timeout=10) as answer:
        return json.load(answer)


def test_a_healthy_system_stays_healthy_and_its_findings_go_away(inn: Inn, store: Path) -> None:
    before = page(inn, "/room")
    done = harden(inn, store, "--verify", "--known-only", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert page(inn, "/room") == before
    applied = document["applied"]
    assert (applied["state"], applied["health"]["ill"]) == ("applied", {})
    assert any(each.startswith("rooms.fallback") for each in applied["added"])
    assert not any(each.startswith("guests.fallback") for each in applied["added"])  # CheckGuest lets people in
    gone = {each["cut"][0]: each["verdict"] for each in document["verification"]["cuts"]}
    assert gone["rooms/GetRoom:abort(503)"] == gone["rates/GetRate:abort(503)"] == "survived"
    assert gone["guests/CheckGuest:abort(503)"] == "failed"
    original = inn.mesh_file.with_name("mesh.yaml.before").read_text()
    subprocess.run(["/bin/sh", "-c", applied["undo"]], check=True)
    assert inn.mesh_file.read_text() == original


def test_a_remedy_that_breaks_a_request_is_rolled_back(inn: Inn, store: Path) -> None:
    inn.picky = "rates"  # the stand-in asks in its own name, and is refused
    original = inn.mesh_file.read_text()
    done = harden(inn, store)
    assert done.returncode == 1, done.stderr
    assert "Rolled back: what worked before does not: `GET /bill` 10 of 10 times: 503" in done.stdout
    assert "The mesh is as it was, and each request is answered as before" in done.stdout
    assert f"it was undone as by cp {inn.mesh_file}.before {inn.mesh_file}" in done.stdout
    assert inn.mesh_file.read_text() == original
    assert set(page(inn, "/bill")) == {"rates", "guests"}


def test_interrupted_it_leaves_the_mesh_as_it_was_and_says_so(inn: Inn, store: Path) -> None:
    original = inn.mesh_file.read_text()
    words = command(inn, store, "--verify", "--known-only")
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        while not any(isinstance(event, MeshChanged | CutRechecked) for event in recorded(store)):
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert inn.mesh_file.read_text() == original
    assert f"What was applied was rolled back, as by `cp {inn.mesh_file}.before {inn.mesh_file}`" in errors
    assert set(page(inn, "/room")) == {"rooms", "rates"}
    resumed = harden(inn, store, "--verify", "--known-only", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "healthy: each request was sent 10 times since, and answered as before" in resumed.stdout


def test_from_the_dashboard_it_is_applied_verified_stopped_resumed_and_undone(inn: Inn, store: Path) -> None:
    original = inn.mesh_file.read_text()
    asked = {"budget": "3", "verify": "yes"}
    with opened_dashboard(store, config_file=inn.config_file, key=KEY) as (dashboard, client):
        assert "rooms.fallback" in client.get("/harden/apply?budget=3").text
        begun = client.post("/harden/apply", data=asked, headers=ORIGIN)
        assert dashboard.runs.current
        while not any(isinstance(event, MeshChanged) for event in recorded(store)):
            assert dashboard.runs.current
            time.sleep(0.005)
        client.post("/campaigns/stop", headers=ORIGIN)
        wait_for_end(dashboard)
        assert inn.mesh_file.read_text() == original
        assert "interrupted" in client.get(begun.url.path).text
        assert 'id="resume"' in client.get("/harden/apply?budget=3").text
        assert 'id="resume"' not in client.get("/harden/apply?budget=1").text

        resumed = client.post("/harden/apply", data={"budget": "3", "resume": "yes"}, headers=ORIGIN)
        assert resumed.url.path == begun.url.path
        wait_for_end(dashboard)
        assert dashboard.runs.latest
        assert dashboard.runs.latest.problem == ""
        page_of_it = client.get(begun.url.path).text
        assert "in force" in page_of_it
        assert "known cuts gone" in page_of_it
        assert "rooms.fallback" in page_of_it

        undone = client.post("/hardenings/undo", headers=ORIGIN)
        assert "Took it back: undone" in undone.text
        assert "in force" not in undone.text
    assert inn.mesh_file.read_text() == original


def wait_for_end(dashboard: Dashboard) -> None:
    while dashboard.runs.current:
        time.sleep(0.01)


def recorded(store: Path) -> list[object]:
    with open_ledger(store) as ledger:
        return [event for run in ledger.runs(Loop.HARDENING) for event in ledger.events(run.id)]


def test_without_a_mesh_that_runs_from_the_file_nothing_is_begun(inn: Inn, store: Path) -> None:
    told = inn.mesh_file.with_name("mesh.yaml.applied")
    content = told.read_text()
    told.unlink()
    done = harden(inn, store)
    told.write_text(content)
    assert done.returncode == 3, done.stderr
    assert f"No mesh runs from `{inn.mesh_file}`" in done.stderr
    assert "cutset mesh up" in done.stderr
    assert recorded(store) == []


def test_an_envoy_that_dies_of_it_is_started_again_as_it_was(inn: Inn, store: Path) -> None:
    original = inn.mesh_file.read_text()
    with subprocess.Popen(
        command(inn, store, "--verify", "--known-only"), env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as process:
        while not any(isinstance(event, MeshChanged) for event in recorded(store)):
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(envoy_of(inn), signal.SIGKILL)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Rolled back: what worked before does not" in output
    assert inn.mesh_file.read_text() == original
    assert set(page(inn, "/room")) == {"rooms", "rates"}


def envoy_of(inn: Inn) -> int:
    """The one whose configuration has the inn's port: other tests of this process may have meshes, too."""
    port = inn.url.rpartition(":")[2]
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            command = (folder / "cmdline").read_bytes().decode().split("\0")
            if "envoy" in command[0] and port in Path(command[command.index("-c") + 1]).read_text():
                return int(folder.name)
    raise AssertionError("there is no Envoy of the inn")

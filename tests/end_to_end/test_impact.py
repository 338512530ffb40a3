"""`cutset impact` on a shop that somebody else runs, as users type it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from cutset.app.demo import Boutique
from cutset.model.impact import Group, ImpactEvent, ImpactWindow, RequestsObserved, WindowEnded, WindowStarted
from cutset.model.run import Loop
from cutset.store.audit import AuditEntry, audit_entries
from cutset.store.ledger import open_ledger
from cutset.store.runs import impact_events

CUTSET = [sys.executable, "-m", "cutset"]
ENVIRONMENT = os.environ | {"CUTSET_KEY": "a key for tests that nobody guesses", "COLUMNS": "200"}
# Seldom enough for a machine that is busy with other tests, too: the shop is a dozen processes.
LOAD = ("--load", "8", "-r", "GET /", "--before", "4s", "--after", "1s")
FATAL, TOLERATED = "productcatalog/ListProducts", "ad/GetAds"


def command(config: Path, *arguments: str) -> list[str]:
    return [*CUTSET, "impact", *arguments, "-c", str(config)]


def impact(config: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(config, *arguments), cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=180, check=False
    )


def events(store: Path) -> list[ImpactEvent]:
    if not (store / "ledger.sqlite").exists():
        return []
    with open_ledger(store) as ledger:
        return [event for run in ledger.runs(Loop.IMPACT) for event in impact_events(ledger, run.id)]


def faulted(store: Path) -> list[AuditEntry]:
    return [entry for entry in audit_entries(store) if entry.group == Group.FAULT]


@contextmanager
def under_way(config: Path, *arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Until some requests had the fault."""
    process = subprocess.Popen(
        command(config, *arguments), cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        while len(faulted(cwd / ".cutset")) < 3:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def users(url: str, per_second: float) -> Iterator[Counter[int]]:
    """Who know nothing of all this; what they are answered."""
    seen: Counter[int] = Counter()
    ended = threading.Event()

    def visit() -> None:
        with httpx.Client(timeout=30, trust_env=False) as client:
            while not ended.wait(3 / per_second):
                seen[client.get(url).status_code] += 1

    visitors = [threading.Thread(target=visit) for _ in range(3)]
    for visitor in visitors:
        visitor.start()
    try:
        yield seen
    finally:
        ended.set()
        for visitor in visitors:
            visitor.join()


def test_a_fatal_fault_is_found_with_the_entry_and_failed_traces(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    page = tmp_path / "impact.html"

    result = impact(boutique[0].config_file, FATAL, *LOAD, "--json", "--html", str(page), cwd=tmp_path)

    assert result.returncode == 1, result.stderr
    document = json.loads(result.stdout)
    (entry,) = document["apis"]
    assert (document["verdict"], entry["api"], entry["verdict"]) == ("affected", "frontend/GET /", "affected")
    failed = {
        request.trace_id
        for event in events(tmp_path / ".cutset")
        if isinstance(event, RequestsObserved)
        for request in event.requests
        if request.group is Group.FAULT
    }
    assert entry["failed_traces"]
    assert {each["trace"] for each in entry["failed_traces"]} <= failed
    assert "frontend/GET /" in page.read_text()
    assert len(faulted(tmp_path / ".cutset")) == document["marked"]["fault"] > 0

    again = impact(
        boutique[0].config_file, FATAL, *LOAD, "--against", document["run"], cwd=tmp_path
    )  # no worse than it was
    assert (again.returncode, "Nothing is known to be worse" in again.stdout) == (0, True), again.stdout


def test_a_fault_that_is_tolerated_is_called_resilient(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    """With a margin that a test can afford: the smaller, the more requests it takes."""
    result = impact(boutique[0].config_file, TOLERATED, *LOAD, "--during", "90s", "--margin", "25%", cwd=tmp_path)

    assert result.returncode == 0, result.stdout + result.stderr
    assert "resilient" in result.stdout.splitlines()[0]


def test_live_requests_are_marked_at_the_edge_and_only_those_suffer(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    with users(boutique[0].mesh.edge_url, per_second=8) as seen:
        options = ("--share", "40%", "--rate", "90%", "--before", "4s", "--after", "2s", "--yes", "--json")
        result = impact(boutique[0].config_file, FATAL, *options, cwd=tmp_path)

    assert result.returncode == 1, result.stderr
    document = json.loads(result.stdout)
    assert document["verdict"] == "affected"
    assert document["unmarked"]["failed"] == 0
    assert 0 < sum(seen[status] for status in seen if status >= 500) <= document["marked"]["fault"]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["ad/GetAd", *LOAD], "No request was seen to call `ad/GetAd`", "Did you mean `ad/GetAds`?"),
        ([TOLERATED, *LOAD, "--share", "5"], "`--share 5`: expected a percentage", "As `--share 5%`"),
        ([f"{TOLERATED}:connection-reset", *LOAD], "a sidecar cannot do that", "Use `ad/GetAds:abort(503)`"),
        ([TOLERATED], "Live requests of users would be marked, and nobody can be asked", "Say `--yes` in a script"),
    ],
)
def test_wrong_usage_is_explained(
    boutique: tuple[Boutique, Path], tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    result = impact(boutique[0].config_file, *arguments, cwd=tmp_path)

    assert result.returncode == 2, result.stderr
    assert message in result.stderr
    assert hint in result.stderr
    assert not faulted(tmp_path / ".cutset")


def test_halt_from_elsewhere_ends_it_and_nothing_is_injected_any_more(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    config, store = boutique[0].config_file, tmp_path / ".cutset"
    with under_way(config, TOLERATED, *LOAD, "--during", "10m", cwd=tmp_path) as process:
        halted = subprocess.run(
            [*CUTSET, "halt", "--reason", "enough", "--store", str(store), "-c", str(config)],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        so_far = len(faulted(store))
        output, errors = process.communicate(timeout=120)

    lifted = subprocess.run([*CUTSET, "halt", "--lift", "--store", str(store), "-c", str(config)], check=False)
    assert (halted.returncode, lifted.returncode) == (0, 0), halted.stderr
    assert process.returncode == 4, errors
    assert "enough" in output
    assert len(faulted(store)) == so_far
    assert httpx.get(boutique[0].mesh.entry_url).status_code == 200


def test_a_second_one_waits_and_an_interrupted_one_tells_what_is_known(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    config = boutique[0].config_file
    with under_way(config, TOLERATED, *LOAD, "--during", "10m", cwd=tmp_path) as process:
        second = impact(config, TOLERATED, *LOAD, cwd=tmp_path)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)

    assert second.returncode == 2
    assert "is under way in `demo`" in second.stderr
    assert process.returncode == 130
    assert "unfinished" in output
    assert "nothing is injected any more" in errors
    told = events(tmp_path / ".cutset")
    assert [event.window for event in told if isinstance(event, WindowStarted)][-1] is ImpactWindow.DURING
    assert [event.reason for event in told if isinstance(event, WindowEnded)][-1] == "interrupted"

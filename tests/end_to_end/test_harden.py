"""Hardening the boutique: explore, choose, apply to the running mesh, verify; and all that under kills."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import pytest
import yaml

from cutset.app.demo import Boutique, run_boutique
from cutset.app.explore import explore
from cutset.app.harden import conclude, decide, exit_code, try_out
from cutset.app.harden_place import Apply, Steps
from cutset.app.harden_problem import HardenOptions
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import Config, adjusted, load_config
from cutset.config.harden import ApiChoice, HardenChoice
from cutset.model.event import ExperimentFinished
from cutset.model.hardening import CallsObserved, CutRechecked, HardeningEvent, MeshChanged, MeshChanging
from cutset.model.run import Loop
from cutset.store.ledger import open_ledger
from cutset.store.runs import hardening_events

CUTSET = [sys.executable, "-m", "cutset"]
KEY = "a key for tests that nobody guesses"
ENVIRONMENT = os.environ | {"CUTSET_KEY": KEY}
CHOSEN = {"productcatalog/GetProduct", "cart/GetCart", "currency/GetSupportedCurrencies"}
EMPTY_CART = HardenChoice(apis={"cart/GetCart": ApiChoice(fallback="last-good-or-empty")})
SOME = ("GET /cart", "POST /cart")

Recorded = TypeVar("Recorded")


def everything(events: AsyncIterator[Recorded]) -> list[Recorded]:
    async def consume() -> list[Recorded]:
        return [event async for event in events]

    return asyncio.run(consume())


def explored(config: Config, store: Path) -> Config:
    everything(explore(config, key=KEY.encode(), store=store))
    return config


def test_three_fallbacks_make_the_cuts_go_away_that_they_were_predicted_to(tmp_path: Path) -> None:
    """All but one: a stand-in cannot know what is in a cart that nobody has looked into yet."""
    with run_boutique(2, KEY.encode(), tmp_path) as boutique:  # one of its own: the mesh is changed
        config = explored(load_config(boutique.config_file), tmp_path)
        decided = decide(tmp_path, "", EMPTY_CART, HardenOptions(budget=3))
        steps = Steps(mesh_file_of(boutique.config_file), apply=Apply.LOCAL, verify=True)
        found = conclude(decided, steps, everything(try_out(decided, steps, config, key=KEY.encode())))

    assert found.decision.choice.proven
    assert {site.candidate.name for site in found.sites} == CHOSEN
    assert found.change is not None
    added = {each.partition(":")[0] for each in found.change.added}
    assert {"cart.fallback", "currency.fallback", "productcatalog.fallback"} <= added

    verification = found.verification
    assert verification is not None
    expected = (2 / 4 + 3 / 6 + 2 / 5 + 1 / 2 + 4 / 7 + 0 / 1) / 6
    assert verification.expected_afvr == pytest.approx(expected)
    surprises = [(each.request, *map(str, each.finding.cut)) for each in verification.disappointments]
    assert surprises == [("POST /cart/checkout", "cart/GetCart:abort(503)")]
    assert verification.afvr == pytest.approx(expected + 1 / 7 / 6)
    assert exit_code(found) == 1

    assert verification.new_cuts == ()
    deeper = {tuple(sorted(map(str, each.cut))) for each in verification.grown_cuts if each.request == "POST /cart"}
    assert deeper == {("productcatalog-fallback/GetProduct:abort(503)", "productcatalog/GetProduct:abort(503)")}
    degraded = {(each.request, *map(str, each.cut)) for each in verification.new_degradations}
    assert ("GET /cart", "cart/GetCart:abort(503)") in degraded
    assert set(verification.before) == set(verification.after)


def recorded(store: Path) -> tuple[list[HardeningEvent], list[ExperimentFinished]]:
    """What the hardening recorded, and the campaign that it had explored again."""
    with open_ledger(store) as ledger:
        events = [event for run in ledger.runs(Loop.HARDENING) for event in hardening_events(ledger, run.id)]
        again = [event for run in ledger.runs(Loop.CAMPAIGN) if run.started.part_of for event in ledger.events(run.id)]
    return events, [event for event in again if isinstance(event, ExperimentFinished)]


def test_killed_at_random_moments_and_resumed_it_repeats_nothing_and_can_be_undone(tmp_path: Path) -> None:
    random_delays = random.Random(11)
    with run_boutique(1, KEY.encode(), tmp_path) as boutique:
        slowly = yaml.safe_load(boutique.config_file.read_text()) | {"limits": {"parallel": 1}}
        boutique.config_file.write_text(yaml.safe_dump(slowly))
        explored(adjusted(load_config(boutique.config_file), requests=SOME), tmp_path)
        mesh_file = boutique.config_file.with_name("mesh.yaml")
        original = mesh_file.read_text()
        options = ["-c", str(boutique.config_file), "--store", str(tmp_path), "--budget", "2"]
        command = [*CUTSET, "harden", *options, "--apply", "local", "--verify", "--json"]

        kills = Counter[str]()
        for moment, reached in MOMENTS.items():
            again = ["--resume"] if kills else []
            with subprocess.Popen([*command, *again], env=ENVIRONMENT, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and not reached(*recorded(tmp_path)):
                    time.sleep(0.005)
                time.sleep(random_delays.uniform(0, 0.3))
                process.send_signal(signal.SIGKILL)
                kills[moment] += process.wait() == -signal.SIGKILL
            assert yaml.safe_load(mesh_file.read_text())["entry"] == "frontend"  # never half a file
        assert kills == Counter(MOMENTS.keys())

        resumed = subprocess.run(
            [*command, "--resume"], env=ENVIRONMENT, capture_output=True, text=True, timeout=240, check=False
        )
        assert resumed.returncode in (0, 1), resumed.stderr
        document = json.loads(resumed.stdout)
        assert_replayed(document["verification"]["grown_cuts"][0], tmp_path)
        subprocess.run(["/bin/sh", "-c", document["applied"]["undo"]], check=True)
        assert mesh_file.read_text() == original

    events, experiments = recorded(tmp_path)
    kinds = Counter(map(type, events))
    assert (kinds[CallsObserved], kinds[MeshChanging], kinds[MeshChanged]) == (2, 1, 1)
    rechecks = Counter(event.finding.id for event in events if isinstance(event, CutRechecked))
    assert set(rechecks.values()) == {1}
    assert set(rechecks) == {each["id"] for each in document["verification"]["cuts"]}
    assert max(Counter((each.request, each.outcome.cut) for each in experiments).values()) == 1
    assert (document["verification"]["explored"], document["verification"]["new_cuts"]) == (True, [])


MOMENTS = {
    "while calls are timed": lambda events, _: bool(events),
    "around the change of the mesh": lambda events, _: any(isinstance(each, MeshChanging) for each in events),
    "while calls are timed again": lambda events, _: any(isinstance(each, MeshChanged) for each in events),
    "among the rechecks": lambda events, _: any(isinstance(each, CutRechecked) for each in events),
    "while it explores again": lambda _, experiments: len(experiments) >= 1,
    "later": lambda _, experiments: len(experiments) >= 3,
}


def assert_replayed(found: dict[str, str], store: Path) -> None:
    """The command that was told tries what was found afterwards, and it still fails."""
    words = found["replay"].split()
    assert words[0] == "cutset"
    assert words[-2:] == ["--replay", found["id"]]
    replayed = subprocess.run(
        [*CUTSET, *words[1:]], cwd=store, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (replayed.returncode, replayed.stdout[:13]) == (1, "x still fails"), replayed.stderr


def test_an_interrupted_hardening_says_how_to_go_on(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    config_file = boutique[0].config_file
    explored(adjusted(load_config(config_file), requests=["POST /cart"]), tmp_path)
    command = [*CUTSET, "harden", "-c", str(config_file), "--store", str(tmp_path), "--verify", "--known-only"]
    with subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        while not recorded(tmp_path)[0]:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    words = " ".join(command[len(CUTSET) :])
    assert f"Go on with `cutset {words} --resume`" in " ".join(errors.split())

    resumed = subprocess.run([*command, "--resume"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert resumed.returncode == 1, resumed.stderr  # nothing was hardened, so that nothing is gone
    assert "new cuts were not looked for" in resumed.stdout

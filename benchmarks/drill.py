"""Planted bugs and their correct look-alikes under drills: how many are found, how many false alarms.

    python -m benchmarks.drill [--only NAME] [--variant broken|correct] [--phases 2,3,3] [--at-once 2]    ends with JSON

As a user would: each service of `cutset_demo.flaws` is recorded while its requests are sent, drilled with the default
faults, and judged by the default thresholds. A bug is found if a drill
fails with one of the symptoms that the answer key names; whatever fails in a correct variant is a false alarm.
"""

import argparse
import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from benchmarks import agent_overhead, replayed_shop
from cutset.app.drill import drill, read_case
from cutset.drill.settings import PORT, DrillSettings, Pace, Selection, ServiceUnderTest
from cutset.errors import CutsetError
from cutset.model.drill import DrillEvent, DrillVerdict, ServiceStarted, results_of
from cutset_demo.children import configure, start_child, stop_children, wait_until_ready

CUTSET = (sys.executable, "-m", "cutset")
FLOWS_RECORDED = 8
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Trial:
    name: str
    variant: str
    symptoms: tuple[str, ...] = ()  # of all drills that failed
    tests: int = 0
    unknown: int = 0
    starts: int = 0
    seconds: float = 0.0
    problem: str = ""


@contextmanager
def data_stores(folder: Path) -> Iterator[Mapping[str, str]]:
    addresses = {name: f"127.0.0.1:{free_port()}" for name in ("redis", "nats", "postgres")}
    child = start_child("datastores", "cutset_demo.datastores", folder)
    try:
        configure(child, {"addresses": addresses, "data": str(folder / "data"), "logs": str(folder)})
        wait_until_ready(child, time.monotonic() + START_SECONDS)
        yield addresses
    finally:
        stop_children([child])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def service_command(name: str, variant: str, port: int | str, stores: Mapping[str, str]) -> list[str]:
    return [
        *(sys.executable, "-m", "cutset_demo.flaws", name, "--variant", variant, "--port", str(port)),
        *("--redis", f"redis://{stores['redis']}/0", "--nats", f"nats://{stores['nats']}"),
        *("--postgres", f"postgresql://postgres@{stores['postgres']}/postgres"),
    ]


def record(flaw: Mapping[str, Any], variant: str, stores: Mapping[str, str], folder: Path) -> None:
    port = free_port()
    command = service_command(flaw["name"], variant, port, stores)
    with (folder / "record.log").open("wb") as log:
        recorder = subprocess.Popen(
            [*CUTSET, "record", "-o", folder / "recording", "--service", flaw["name"], "--", *command],
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        for _ in range(FLOWS_RECORDED):
            unique = f"b-{uuid.uuid4().hex[:10]}"
            for step in flaw["requests"]:
                send(f"http://127.0.0.1:{port}", step, unique)
        time.sleep(1)  # what is done after the answer is recorded, too
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(START_SECONDS)


def wait_for(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def send(base: str, step: Mapping[str, Any], unique: str) -> None:
    body = json.dumps(step["json"]).replace("{unique}", unique).encode() if "json" in step else None
    request = urllib.request.Request(
        base + step["path"].replace("{unique}", unique),
        body,
        {"Content-Type": "application/json"} if body else {},
        method=step["method"],
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == step["status"], f"{step}: {answer.status}"


async def drilled(
    flaw: Mapping[str, Any],
    variant: str,
    stores: Mapping[str, str],
    folder: Path,
    *,
    pace: Pace,
    selection: Selection,
) -> list[DrillEvent]:
    """All drills of what was recorded in the folder."""
    service = ServiceUnderTest(
        tuple(service_command(flaw["name"], variant, PORT, stores)),
        ready_url=f"http://127.0.0.1:{PORT}/health",
        folder=folder,
    )
    case = read_case(DrillSettings(service, pace, selection=selection, recording=folder / "recording"))
    return [event async for event in drill(case, store=folder / "store")]


async def tried(flaw: Mapping[str, Any], variant: str, stores: Mapping[str, str], pace: Pace) -> Trial:
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"cutset-drill-{flaw['name']}-{variant}-"))
    try:
        await asyncio.to_thread(record, flaw, variant, stores, folder)
        events = await drilled(flaw, variant, stores, folder, pace=pace, selection=Selection())
        trial = summed_up(flaw["name"], variant, events, time.monotonic() - begun)
    except (OSError, AssertionError, subprocess.SubprocessError, CutsetError) as error:
        trial = Trial(flaw["name"], variant, seconds=time.monotonic() - begun, problem=repr(error))
    if not trial.problem:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{flaw['name']} {variant}: {trial}", flush=True)
    return trial


def summed_up(name: str, variant: str, events: Sequence[DrillEvent], seconds: float) -> Trial:
    results = results_of(events)
    for result in results:
        symptoms = [finding.symptom.value for finding in result.judgement.findings]
        told = f"{result.judgement.verdict} {symptoms} {result.judgement.reason[:200]}"
        print(f"  {name} {variant}: {result.test}: {told}", flush=True)
    return Trial(
        name,
        variant,
        tuple(sorted({finding.symptom.value for result in results for finding in result.judgement.findings})),
        len(results),
        sum(result.judgement.verdict is DrillVerdict.UNKNOWN for result in results),
        sum(isinstance(event, ServiceStarted) for event in events),
        round(seconds, 1),
    )


async def all_tried(
    flaws: Sequence[Mapping[str, Any]], variants: Sequence[str], stores: Mapping[str, str], pace: Pace, at_once: int
) -> list[Trial]:
    places = asyncio.Semaphore(at_once)

    async def one(flaw: Mapping[str, Any], variant: str) -> Trial:
        async with places:
            return await tried(flaw, variant, stores, pace)

    return await asyncio.gather(*(one(flaw, variant) for flaw in flaws for variant in variants))


def planted() -> list[dict[str, Any]]:
    """The answer key."""
    key = resources.files("cutset_demo.flaws").joinpath("FLAWS.yaml").read_text()
    found: list[dict[str, Any]] = yaml.safe_load(key)["flaws"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="a planted bug; may be given several times")
    parser.add_argument("--variant", choices=("broken", "correct"), help="only these")
    parser.add_argument("--phases", default="3,5,5", help="seconds of start-up, fault and recovery")
    parser.add_argument("--at-once", type=int, default=2, help="services under drill at a time")
    parser.add_argument("--quick", action="store_true", help="neither replay rates nor overheads")
    options = parser.parse_args()
    pace = Pace(*map(float, options.phases.split(",")))
    flaws = [flaw for flaw in planted() if not options.only or flaw["name"] in options.only]
    variants = [options.variant] if options.variant else ["broken", "correct"]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, data_stores(Path(folder)) as stores:
        outcomes = asyncio.run(all_tried(flaws, variants, stores, pace, options.at_once))
    expected = {flaw["name"]: set(flaw["symptoms"]) for flaw in flaws}
    broken = [each for each in outcomes if each.variant == "broken"]
    correct = [each for each in outcomes if each.variant == "correct"]
    found = [each.name for each in broken if expected[each.name] & set(each.symptoms)]
    document: dict[str, Any] = {
        "bugs_planted": len(broken),
        "bugs_found": len(found),
        "correct_variants": len(correct),
        "false_alarms": sum(bool(each.symptoms) for each in correct),
        "services_started": sum(each.starts for each in outcomes),
        "tests_run": sum(each.tests for each in outcomes),
        "tests_unknown": sum(each.unknown for each in outcomes),
        "seconds": round(time.monotonic() - begun, 1),
        "missed": sorted({each.name for each in broken} - set(found)),
        "alarms": {each.name: each.symptoms for each in correct if each.symptoms},
        "problems": {f"{each.name} {each.variant}": each.problem for each in outcomes if each.problem},
    }
    if not options.quick:
        document |= replayed_shop.measure()
        document |= agent_overhead.measure()
    print(json.dumps(document))


if __name__ == "__main__":
    main()

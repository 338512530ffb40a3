"""Does anything that is killed make a report claim more than is true? Envoy, a store, a node, the way of spans to the
collector and Cutset itself are killed at the boundaries of events of real campaigns on the demo's shop, and started
again sooner or later. Whenever a campaign has ended, halted or been killed, what it says is held against the shop's
answer key, and against the checker; then it is resumed, until it is complete.

    python -m benchmarks.truth.chaos [--quick]
"""

import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

import yaml
from benchmarks.truth.mortal_shop import MortalShop, Part
from benchmarks.truth.topic import run_alone

from cutset.app.check import check_campaign
from cutset.app.demo import answer_key, check_answers
from cutset.app.report import list_campaigns, read_campaign
from cutset.lineage.path import Level
from cutset.store.ledger import NAME

KILLS, QUICK_KILLS = 60, 6
KILLS_EACH = 3  # in one campaign, its resumptions included
REQUESTS = ("GET /cart", "POST /cart", "GET /product-meta/{id}")
RESUMPTIONS = 6  # more than one campaign's kills can bring about
PATIENCE_SECONDS = 180  # for one run of `cutset explore`

CUTSET = "cutset"
VICTIMS = (Part.ENVOY, Part.STORE, CUTSET, Part.NODE, Part.COLLECTOR)
# Events after which to strike, counted from each start: audits, experiments and ends of requests lie in between. Both
# numbers are prime to those of the victims, so that each meets each.
BOUNDARIES = (1, 3, 5, 8, 12, 17, 2, 6, 10, 14, 4)
DELAYS = (0.0, 0.3, 1.0, 0.0, 3.0, 0.3, 0.0)  # seconds until what was killed is started again
LEFT_DEAD = 13  # every so many kills, nobody starts it again until the campaign has halted


@dataclass(frozen=True, slots=True)
class Kill:
    victim: str
    after_events: int
    seconds: float  # until it is started again; infinite: not until the campaign has halted


@dataclass(slots=True)
class Tally:
    kills: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    overclaimed: list[str] = field(default_factory=list)
    campaigns: int = 0
    recovered: int = 0  # kills after which the campaign reached the whole answer key all the same


def measure(*, quick: bool) -> dict[str, object]:
    return chaos(QUICK_KILLS if quick else KILLS)


def chaos(wanted: int, requests: Sequence[str] = REQUESTS) -> dict[str, object]:
    key = secrets.token_hex(32)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="cutset-chaos-") as name:
        shop = MortalShop(key.encode(), Path(name) / "shop")
        with shop.running():
            plan = kills_in_turn()
            while sum(tally.kills.values()) < wanted:
                folder = Path(name) / f"campaign-{tally.campaigns}"
                folder.mkdir()
                left = min(KILLS_EACH, wanted - sum(tally.kills.values()))
                (folder / "cutset.yaml").write_text(yaml.safe_dump(shop.configuration(requests)))
                _campaign(shop, folder, key, list(islice(plan, left)), tally)
    for claim in tally.overclaimed:
        print(f"overclaimed: {claim}", file=sys.stderr)
    print(f"{tally.campaigns} campaigns; kills {dict(tally.kills)}; exit codes {dict(tally.exits)}", file=sys.stderr)
    return {
        "chaos_kills": sum(tally.kills.values()),
        "overclaimed": len(tally.overclaimed),
        "recovered": tally.recovered,
    }


def kills_in_turn() -> Iterator[Kill]:
    turns = zip(cycle(VICTIMS), cycle(BOUNDARIES), cycle(DELAYS))
    for number, (victim, boundary, seconds) in enumerate(turns, start=1):
        yield Kill(victim, boundary, float("inf") if number % LEFT_DEAD == 0 else seconds)


def _campaign(shop: MortalShop, folder: Path, key: str, kills: list[Kill], tally: Tally) -> None:
    tally.campaigns += 1
    struck = sum(tally.kills.values())
    for _ in range(RESUMPTIONS):
        code = _explore(shop, folder, key, kills, tally)
        tally.exits[code] += 1
        shop.heal()
        claims = _wrong_claims(folder, key)
        tally.overclaimed += [f"campaign {tally.campaigns}: {claim}" for claim in claims]
        if _is_complete(folder):
            tally.recovered += sum(tally.kills.values()) - struck
            return
    print(f"campaign {tally.campaigns} was never complete: {(folder / 'output').read_text()[-3000:]}", file=sys.stderr)


def _explore(shop: MortalShop, folder: Path, key: str, kills: list[Kill], tally: Tally) -> int:
    """Runs or resumes the campaign, and kills while it runs; returns its exit code."""
    begun, events = bool(_events(folder)), _events(folder)
    command = [sys.executable, "-m", "cutset", "explore", *(["--resume"] if begun else [])]
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**_environment(), "CUTSET_KEY": key}, stdout=output, stderr=output
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if kills and _events(folder) >= events + kills[0].after_events:
                _strike(shop, process, kills.pop(0), tally)
                events = _events(folder)
            time.sleep(0.005)
        process.kill()
    return process.wait()


def _strike(shop: MortalShop, process: subprocess.Popen[bytes], kill: Kill, tally: Tally) -> None:
    tally.kills[kill.victim] += 1
    print(f"kill {sum(tally.kills.values())}: {kill}", file=sys.stderr)
    if kill.victim == CUTSET:
        process.kill()
        process.wait()
        return
    shop.kill(Part(kill.victim))
    if kill.seconds == float("inf"):
        process.wait(PATIENCE_SECONDS)
        return
    time.sleep(kill.seconds)
    shop.heal()


def _events(folder: Path) -> int:
    if not (folder / ".cutset" / NAME).exists():
        return 0
    with closing(sqlite3.connect(f"file:{folder / '.cutset' / NAME}?mode=ro", uri=True)) as database:
        try:
            return int(database.execute("SELECT COUNT(*) FROM events").fetchone()[0])
        except sqlite3.OperationalError:  # it is being made
            return 0


def _wrong_claims(folder: Path, key: str) -> list[str]:
    store = folder / ".cutset"
    if not _events(folder) or not list_campaigns(store):
        return []
    summary = read_campaign(store).summary
    wrong = list(check_answers(summary, answer_key(summary, Level.API, 2)).wrong)
    return wrong + [f"refuted: {each}" for each in check_campaign(store, key=key.encode()).refuted]


def _is_complete(folder: Path) -> bool:
    if not _events(folder):
        return False
    summary = read_campaign(folder / ".cutset").summary
    expected = answer_key(summary, Level.API, 2)
    return summary.complete and not check_answers(summary, expected).unfinished


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("CUTSET_")}


if __name__ == "__main__":
    run_alone(measure, __doc__)

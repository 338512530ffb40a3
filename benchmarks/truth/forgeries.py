"""Does the checker accept a campaign that is not what was recorded? A real campaign on the demo's shop is changed in
every way that pays: findings removed, added and edited, survivors removed and made up, claims raised, the end taken
from elsewhere. Where an attacker could mend the chain of digests, that is done; the key is what no attacker has.

    python -m benchmarks.truth.forgeries [--quick]
"""

import asyncio
import json
import secrets
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.truth.topic import run_alone
from tests.samples.recorded_campaign import Row, forged, rows_of

import cutset.check
from cutset.app.check import check_campaign
from cutset.app.demo import run_boutique
from cutset.app.explore import explore
from cutset.config.explore import adjusted, load_config
from cutset.errors import CutsetError
from cutset.model.event import ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Fault, cut_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.store.codec import RecordedEvent, event_from_json, event_to_json
from cutset.store.ledger import NAME

QUICK = 8  # of each kind
Forgery = tuple[str, list[Row]]  # its kind, and the records

_NOWHERE = Point("nowhere", "Call")


def measure(*, quick: bool) -> dict[str, object]:
    key = secrets.token_hex(32).encode()
    tried: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as store_name, tempfile.TemporaryDirectory() as forge_name:
        store, forge = Path(store_name), Path(forge_name)
        other, run = _recorded(store, key)
        ledger, rows = store / NAME, rows_of(store / NAME, run)
        if check_campaign(store, run, key=key).refuted:
            raise SystemExit("the true campaign is refused: nothing can be said of forgeries")
        kinds = [lambda make=make: make(rows) for make in _ON_RECORDS]
        kinds.append(lambda: _ends_from_elsewhere(rows, rows_of(ledger, other)))
        for kind in kinds:
            for name, changed in islice(kind(), QUICK if quick else None):
                forged(ledger, forge, changed, run)
                tried[name] += 1
                accepted[name] += _accepts(forge, run, key)
                noticed[name] += not _accepts(forge, run)
        for name, statement in islice(_in_place(ledger, run), QUICK if quick else None):
            _changed(ledger, forge / NAME, statement)
            tried[name] += 1
            accepted[name] += _accepts(forge, run)
            noticed[name] += not _accepts(forge, run)
    for name, number in tried.items():
        print(f"{name}: {number}, accepted {accepted[name]}, noticed without the key {noticed[name]}", file=sys.stderr)
    return {
        "forged_campaigns": tried.total(),
        "checker_accepted": accepted.total(),
        "checker_lines": len(Path(cutset.check.__file__).read_text(encoding="utf-8").splitlines()),
    }


def _accepts(store: Path, run: str, key: bytes = b"") -> bool:
    try:
        return not check_campaign(store, run, key=key).refuted
    except CutsetError:
        return False


def _recorded(store: Path, key: bytes) -> tuple[str, str]:
    """The ids of two campaigns in one ledger, sealed with one key: a small one, and all of the shop."""

    async def record() -> tuple[str, str]:
        with run_boutique(2, key, store) as shop:
            whole = load_config(shop.config_file)
            small = adjusted(whole, requests=["GET /"], limits={"max_size": 1})
            runs = []
            for config in (small, whole):
                events = [event async for event in explore(config, key=key, store=store)]
                runs.append(getattr(events[0], "run", ""))
            return runs[0], runs[1]

    print("recording two campaigns on the demo's shop", file=sys.stderr)
    return asyncio.run(record())


def _outcomes(rows: list[Row]) -> Iterator[tuple[int, ExperimentFinished]]:
    for number, (_, kind, fields) in enumerate(rows):
        event = event_from_json(kind, fields)
        if isinstance(event, ExperimentFinished):
            yield number, event


def _with(rows: list[Row], number: int, event: RecordedEvent) -> list[Row]:
    return [*rows[:number], (rows[number][0], *event_to_json(event)), *rows[number + 1 :]]


def _removed(rows: list[Row]) -> Iterator[Forgery]:
    for number, event in _outcomes(rows):
        yield f"{event.outcome.verdict} removed", [*rows[:number], *rows[number + 1 :]]


def _added(rows: list[Row]) -> Iterator[Forgery]:
    """With evidence as good as a true finding's, and with none; also of calls that do not exist."""
    events = dict(_outcomes(rows))
    points = sorted({point for event in events.values() for point in event.outcome.calls} | {_NOWHERE})
    requests = sorted({event.request for event in events.values()})
    last = max(events)
    for request, point in ((request, point) for request in requests for point in points):
        proven = {"calls": frozenset({point}), "fired": frozenset({point}), "healthy_after": True}
        for evidence in ({"trials": 2, "failures": 2, **proven}, {}):
            outcome = Outcome(cut_of([point]), Verdict.FAILED, "500", **evidence)  # type: ignore[arg-type]
            added = event_to_json(ExperimentFinished(request=request, outcome=outcome))
            yield "failed added", [*rows[: last + 1], (rows[last][0], *added), *rows[last + 1 :]]


_EDITS: dict[str, Callable[[Outcome], Outcome]] = {
    "made to survive": lambda outcome: replace(outcome, verdict=Verdict.SURVIVED, failures=0),
    "made to fail": lambda outcome: replace(outcome, verdict=Verdict.FAILED, failures=2, healthy_after=True),
    "made unknown": lambda outcome: replace(outcome, verdict=Verdict.UNKNOWN),
    "another cut": lambda outcome: replace(outcome, cut=cut_of([_NOWHERE])),
    "a larger cut": lambda outcome: replace(outcome, cut=outcome.cut | {Fault(_NOWHERE)}),
    "nothing called": lambda outcome: replace(outcome, calls=outcome.fired),
    "nothing fired": lambda outcome: replace(outcome, fired=frozenset()),
    "failed once": lambda outcome: replace(outcome, failures=1, trials=1),
    "never healthy": lambda outcome: replace(outcome, healthy_after=False),
    "tried for ever": lambda outcome: replace(outcome, trials=10**6),
    "failed over": lambda outcome: replace(outcome, retried=outcome.calls),
    "another answer": lambda outcome: replace(outcome, reason="200"),
    "other traces": lambda outcome: replace(outcome, trace_ids=("f" * 32,)),
}


def _edited(rows: list[Row]) -> Iterator[Forgery]:
    for number, event in _outcomes(rows):
        for name, edit in _EDITS.items():
            outcome = edit(event.outcome)
            if outcome != event.outcome:
                yield f"edited: {name}", _with(rows, number, replace(event, outcome=outcome))


def _moved(rows: list[Row]) -> Iterator[Forgery]:
    """An experiment of one request passed off as another's; two of them in each other's place."""
    events = dict(_outcomes(rows))
    requests = sorted({event.request for event in events.values()})
    for number, event in events.items():
        for request in requests:
            if request != event.request:
                yield "moved to another request", _with(rows, number, replace(event, request=request))
    for one, two in Random(7).sample(list(permutations(events, 2)), 60):
        changed = list(rows)
        changed[one], changed[two] = rows[two], rows[one]
        yield "in another order", changed


def _claims(rows: list[Row]) -> Iterator[Forgery]:
    for number, (_, kind, fields) in enumerate(rows):
        event = event_from_json(kind, fields)
        if isinstance(event, RequestFinished):
            for size in (0, 2, 4):
                yield "another claim", _with(rows, number, replace(event, complete_up_to=size, exact_up_to=size))
            yield "another assumption", _with(rows, number, replace(event, assumption="none"))
            yield "claim removed", [*rows[:number], *rows[number + 1 :]]
        elif isinstance(event, RequestAudited):
            unreached = replace(event, not_reached=event.not_reached ^ {_NOWHERE})
            yield "another reach", _with(rows, number, unreached)
            yield "audit without runs", _with(rows, number, replace(event, runs=()))
            yield "audit removed", [*rows[:number], *rows[number + 1 :]]


def _ends(rows: list[Row]) -> Iterator[Forgery]:
    """The whole of it cut short, with its own end put on again; and its own end changed."""
    for length in range(3, len(rows) - 1):
        yield "cut short", [*rows[:length], rows[-1]]
    end = event_from_json(*rows[-1][1:])
    assert isinstance(end, RunFinished)
    for seal in ("", "0" * 64, end.seal[:-1], end.seal.upper()):
        yield "another seal", _with(rows, len(rows) - 1, replace(end, seal=seal))
    yield "another end", _with(rows, len(rows) - 1, replace(end, reason="the budget is spent"))


def _ends_from_elsewhere(rows: list[Row], other: list[Row]) -> Iterator[Forgery]:
    """What was sealed with the same key, for another campaign."""
    yield "sealed elsewhere", [*rows[:-1], other[-1]]
    yield "another campaign", other
    yield "another campaign", [rows[0], *other[1:]]


_ON_RECORDS = (_removed, _added, _edited, _moved, _claims, _ends)


def _in_place(ledger: Path, run: str) -> Iterator[tuple[str, tuple[str, tuple[Any, ...]]]]:
    """Without mending the chain: noticed without any key."""
    database = sqlite3.connect(ledger)
    found = database.execute("SELECT id, fields FROM events WHERE run = ? ORDER BY id", (run,)).fetchall()
    database.close()
    for number, fields in found[:-1]:
        yield "in place: removed", ("DELETE FROM events WHERE id = ?", (number,))
        yield "in place: later", ("UPDATE events SET at = at + 1 WHERE id = ?", (number,))
        changed = json.dumps(json.loads(fields))  # the same, written in another way
        yield "in place: rewritten", ("UPDATE events SET fields = ? WHERE id = ?", (changed, number))


def _changed(ledger: Path, copy: Path, statement: tuple[str, tuple[Any, ...]]) -> None:
    copy.write_bytes(ledger.read_bytes())
    database = sqlite3.connect(copy)
    database.execute(*statement)
    database.commit()
    database.close()


if __name__ == "__main__":
    run_alone(measure, __doc__)

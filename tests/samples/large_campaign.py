"""A campaign of any size in a ledger, without a search: services in layers, requests that are trees of calls.

Outcomes are those of a deterministic system, so that what is concluded from them is true. The same arguments make the
same events, but for the time and the run's id.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from pathlib import Path
from random import Random

from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import BASELINE, Cut, Fault, format_cut, points_of
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.run_id import new_run_id

APIS = 2  # of each service
SERVICES_PER_REQUEST = 12  # so many services, one more request class
CALLS = 24  # of a request, at most
REPEATS = 2
EFFECTS = EffectChoice()  # 503, of data stores a refused connection


def record_large_campaign(store: Path, services: int, experiments: int) -> str:
    """The id of the run, which is finished."""
    run = new_run_id()
    with open_ledger(store) as ledger:
        ledger.append(run, RunStarted(loop=Loop.CAMPAIGN, run=run, command="explore"))
        for event in large_campaign(services, experiments):
            ledger.append(run, event)
    return run


def large_campaign(services: int, experiments: int) -> Iterator[CampaignEvent]:
    """What follows the beginning of its run: all single faults, then pairs and sets of three by chance."""
    system = _system(services, Random(services))
    yield CampaignStarted(
        requests=tuple(system),
        max_size=3,
        points="api",
        effects=EFFECTS,
        strategy="cuts",
        certificates="exact",
        across_requests="verify",
        repeats=REPEATS,
        flake_rate=0.01,
        trials=10,
    )
    for name, calls in system.items():
        usual = _outcome(calls, BASELINE)
        yield RequestAudited(
            request=name,
            healthy=True,
            reason="",
            calls=usual.calls,
            not_reached=frozenset(),
            trace_ids=("0" * 32,),
            runs=(usual,),
            edges=tuple(
                sorted({(Point.parse(call.caller), call.point.of_api) for call in usual.seen if call.caller}),
            ),
            uncoverable=(Uncoverable("GET /rates", OutOfReach.PAST_MESH, "s000", "rates.example:443"),),
        )
    shares = [experiments // len(system) + (number < experiments % len(system)) for number in range(len(system))]
    for (name, calls), share in zip(system.items(), shares, strict=True):
        for outcome in _experiments(calls, share, Random(name)):
            yield ExperimentFinished(request=name, outcome=outcome, round=1 + len(outcome.cut), complete_up_to=1)
    for name in system:
        yield RequestFinished(
            request=name, complete_up_to=1, exact_up_to=1, reason="the budget of experiments is spent"
        )
    yield RunFinished(reason="the budget of experiments is spent")


@dataclass(slots=True)
class _Call:
    point: Point
    optional: bool = False  # without it, the answer lacks a part
    fallback: "_Call | None" = None
    inner: list["_Call"] = field(default_factory=list)


def _system(services: int, chance: Random) -> dict[str, list[_Call]]:
    """By request class, the calls that its own API makes."""
    requests = max(2, services // SERVICES_PER_REQUEST)
    used = iter(range(services))
    system = {}
    for number in range(requests):
        own = [next(used, None) for _ in range(SERVICES_PER_REQUEST)]
        of_request = [each for each in own if each is not None]
        of_request += [chance.randrange(services) for _ in range(CALLS - len(of_request))]
        calls: list[_Call] = []
        seen: set[Point] = set()
        for index, service in enumerate(of_request):
            call = _call(service, chance)
            if call.point in seen:
                continue
            seen.add(call.point)
            callers = [each for each in _all(calls) if not each.point.caller]
            (calls if index < 3 or not callers else chance.choice(callers).inner).append(call)
        system[f"{chance.choice(('GET', 'POST'))} /page-{number:02}"] = calls
    return system


def _call(service: int, chance: Random) -> _Call:
    name = f"s{service:03}"
    call = _Call(Point(name, f"Get{chance.randrange(APIS)}"), optional=chance.random() < 0.3)
    if chance.random() < 0.25:
        call.fallback = _Call(Point(name, f"Fallback{chance.randrange(APIS)}"))
    match chance.randrange(6):
        case 0:
            call.inner.append(_Call(Point("db", f"psycopg/execute pg-{service % 9}/main", name)))
        case 1:
            call.inner.append(_Call(Point("cache", f"redis/get redis-{service % 5}/0", name), optional=True))
        case 2 if service % 4 == 0:
            call.inner.append(_Call(Point("mq", f"nats/publish orders.{service % 3}", name), optional=True))
    return call


def _all(calls: Sequence[_Call]) -> Iterator[_Call]:
    for call in calls:
        yield call
        yield from _all([*call.inner, *([call.fallback] if call.fallback else [])])


def _experiments(calls: Sequence[_Call], number: int, chance: Random) -> Iterator[Outcome]:
    """All single faults that fire, one that does not, then pairs and larger sets."""
    points = sorted({call.point for call in _all(calls)})
    pairs = [_cut(pair) for pair in combinations(points, 2)]
    chance.shuffle(pairs)
    asked = chain(map(_cut, ([point] for point in points)), pairs[: number // 2], _larger(points, chance))
    known: set[Cut] = {BASELINE}
    unknown = 0
    while len(known) <= number:
        outcome = _outcome(calls, next(asked))
        unknown += outcome.verdict is Verdict.UNKNOWN
        if outcome.cut not in known and (unknown <= 1 or outcome.verdict is not Verdict.UNKNOWN):
            known.add(outcome.cut)
            yield outcome


def _larger(points: Sequence[Point], chance: Random) -> Iterator[Cut]:
    while True:
        yield _cut(chance.sample(points, min(len(points), chance.choice((3, 3, 4, 5)))))


def _cut(points: Iterable[Point]) -> Cut:
    return frozenset(Fault(point, EFFECTS.at(point)[0]) for point in points)


def _outcome(calls: Sequence[_Call], cut: Cut) -> Outcome:
    faulted, seen, missing = points_of(cut), list[CallSeen](), list[str]()

    def answered(call: _Call, caller: str) -> bool:
        fails = call.point in faulted
        seen.append(CallSeen(call.point, caller, "503" if fails else "200", 2))
        return not fails and all(handled(inner, str(call.point)) for inner in call.inner)

    def handled(call: _Call, caller: str) -> bool:
        if answered(call, caller) or (call.fallback is not None and answered(call.fallback, caller)):
            return True
        if call.optional:
            missing.append(call.point.service)
        return call.optional

    survived = all(handled(call, "") for call in calls)
    called = frozenset(each.point for each in seen)
    fired = faulted & called
    trace_ids = (hashlib.md5(format_cut(cut).encode(), usedforsecurity=False).hexdigest(),)
    if cut and not fired:
        reason = f"never fired: {' + '.join(map(str, sorted(faulted)))} was not called"
        return Outcome(cut, Verdict.UNKNOWN, reason, calls=called, seen=tuple(seen), trace_ids=trace_ids)
    if not survived:
        return Outcome(
            cut,
            Verdict.FAILED,
            f"500 with `{min(map(str, fired))} is not there`",
            failed=fired,
            calls=called,
            fired=fired,
            met=tuple(each for each in seen if each.point in fired),
            trace_ids=trace_ids,
            requests=REPEATS + 1,
            trials=REPEATS,
            failures=REPEATS,
            healthy_after=True,
        )
    return Outcome(
        cut,
        Verdict.DEGRADED if missing else Verdict.SURVIVED,
        f"200, but missing section#{missing[0]}" if missing else "200",
        path=called - fired,
        failed=fired,
        calls=called,
        fired=fired,
        seen=tuple(seen),
        milliseconds=20,
        trace_ids=trace_ids,
    )

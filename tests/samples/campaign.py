"""The events of a small campaign with one of everything that a report must show."""

from dataclasses import replace

from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.difference import Difference, DifferenceKind
from cutset.model.effect import Effect, EffectChoice
from cutset.model.event import (
    CampaignEvent,
    CampaignStarted,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Cut, Fault, points_of
from cutset.model.outcome import CallSeen, Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted


def points(*texts: str) -> Points:
    return frozenset(Point.parse(text) for text in texts)


def cut(*faults: str) -> Cut:
    return frozenset(Fault.parse(fault) for fault in faults)


def choice(*effects: str, **rules: str) -> EffectChoice:
    """The usual effects, and by service those of a rule, separated by spaces."""
    at = tuple((name, tuple(map(Effect.parse, texts.split()))) for name, texts in rules.items())
    return EffectChoice(tuple(map(Effect.parse, effects)), at)


def experiment(request: str, verdict: Verdict, reason: str, *faults: str, **fields: object) -> ExperimentFinished:
    tried = cut(*faults)
    proven = {"trials": 2, "failures": 2, "fired": points_of(tried), "healthy_after": True}
    fields = (proven if verdict is Verdict.FAILED and tried else {}) | fields
    outcome = Outcome(tried, verdict, reason, trace_ids=("a" * 8, "b" * 8), requests=3, **fields)  # type: ignore[arg-type]
    return ExperimentFinished(request=request, outcome=outcome, round=1 + len(tried))


def audited(
    request: str,
    *,
    reason: str = "",
    not_reached: Points = frozenset(),
    runs: tuple[Outcome, ...] = (),
    varies: str = "",
) -> RequestAudited:
    return RequestAudited(
        request=request,
        healthy=not reason,
        reason=reason,
        calls=points("cart/GetCart", "ad/GetAds"),
        not_reached=not_reached,
        trace_ids=("c" * 8,),
        runs=runs,
        varies=varies,
    )


RUN = RunStarted(loop=Loop.CAMPAIGN, run="20261116-030000-aa", command="explore")
REPLAY = "cutset explore --replay"
EVENTS: list[CampaignEvent] = [  # after that
    CampaignStarted(
        requests=("GET /", "POST /pay", "GET /down"),
        max_size=3,
        strategy="cuts",
        certificates="exact",
        across_requests="verify",
        repeats=2,
        flake_rate=0.01,
    ),
    audited("GET /", runs=(Outcome(frozenset(), Verdict.SURVIVED, "200", path=points("cart/GetCart", "ad/GetAds")),)),
    replace(
        audited("POST /pay", not_reached=points("currency/Convert")),
        uncoverable=(
            Uncoverable("GET /rates", OutOfReach.PAST_MESH, "pay", "rates.example:443"),
            Uncoverable("redis", OutOfReach.DATA_STORE, "cart", "127.0.0.1:6379"),
        ),
    ),
    audited("GET /down", reason="unhealthy baseline: 3 of 3 without faults failed: 500 with `[bold]oops`"),
    RequestFinished(
        request="GET /down",
        complete_up_to=-1,
        reason="unhealthy baseline: 3 of 3 without faults failed: 500 with `[bold]oops`",
    ),
    experiment("GET /", Verdict.SURVIVED, "200"),
    experiment("GET /", Verdict.FAILED, "500 with `no cart`", "cart/GetCart"),
    experiment(
        "GET /",
        Verdict.DEGRADED,
        "200, but missing section#ads",
        "ad/GetAds",
        path=points("cart/GetCart"),
        failed=points("ad/GetAds"),
        calls=points("cart/GetCart", "ad/GetAds"),
        fired=points("ad/GetAds"),
    ),
    experiment("GET /", Verdict.FAILED, "not minimal", "cart/GetCart", "ad/GetAds"),
    experiment("GET /", Verdict.FAILED, "more than was asked for", "x/1", "x/2", "x/3", "x/4"),
    RequestFinished(
        request="GET /",
        complete_up_to=3,
        reason="",
        assumption="behaviour depends on which calls fail",
        masked=((cut("cart/GetCart"), cut("cart/GetCart", "flag/Get")),),
    ),
    experiment("POST /pay", Verdict.SURVIVED, "200"),
    experiment("POST /pay", Verdict.UNKNOWN, "never fired: x/Y was not called", "x/Y"),
    experiment(
        "POST /pay",
        Verdict.FAILED,
        "no answer: connection lost",
        "pay/Charge:delay(250ms)",
        "backup/Charge:abort(503),50%",
        dead=("127.0.0.1:5001",),
    ),
    experiment("POST /pay", Verdict.UNKNOWN, "never fired, but certified by another experiment", "x/Z"),
    RequestFinished(
        request="POST /pay",
        complete_up_to=1,
        reason="the budget of experiments is spent",
        undecided=(cut("x/Y"),),
        predicted=(cut("a/1", "a/2"), cut("a/1", "a/3"), cut("b/1", "b/2", "b/3")),
    ),
    RunFinished(reason="POST /pay: the budget of experiments is spent"),
]

VARYING: list[CampaignEvent] = [  # a cache answers for the currency service, half of the time
    CampaignStarted(
        requests=("GET /",),
        max_size=1,
        effects=choice("grpc(14)"),
        strategy="cuts",
        repeats=2,
        flake_rate=0.01,
        trials=10,
    ),
    audited("GET /", varies="currency/Convert was called in 1 of 3 runs without a fault"),
    experiment(
        "GET /",
        Verdict.FAILED,
        "500; fails a share of requests: those that call currency/Convert, 5 of 10",
        "currency/Convert:grpc(14)",
        trials=10,
        failures=5,
    ),
    experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds:grpc(14)", trials=10),
    experiment(
        "GET /",
        Verdict.DEGRADED,
        "200, but wrong: `total` was 19.99, is 0",
        "cart/GetCart:grpc(14)",
        trials=11,
        differences=(Difference(DifferenceKind.VALUE, "total", "19.99", "0"),),
    ),
    RequestFinished(request="GET /", complete_up_to=1, reason=""),
    RunFinished(reason=""),
]
VARIATION = (
    "requests vary: currency/Convert was called in 1 of 3 runs without a fault; each experiment that survived had "
    "10 trials or more, in which a set that fails 27 % of requests or more is overlooked with a chance of at most 5 %"
)
SCOPE = "Said of calls that fail by grpc(14); nothing is said of other ways to fail"

_CHARGE = Point("payment", "Charge")
MIXED: list[CampaignEvent] = [  # payment has a fallback for errors, and no timeout; its answer is not looked at
    CampaignStarted(
        requests=("POST /pay",),
        max_size=2,
        effects=choice("abort(503)", "timeout", "empty"),
        strategy="cuts",
        certificates="exact",
        repeats=2,
    ),
    replace(audited("POST /pay"), calls=points("payment/Charge", "ledger/Book")),
    experiment("POST /pay", Verdict.SURVIVED, "200", "payment/Charge", fired=frozenset({_CHARGE})),
    experiment(
        "POST /pay",
        Verdict.FAILED,
        "no answer: none within 5 s",
        "payment/Charge:timeout",
        met=(CallSeen(_CHARGE, "checkout/PlaceOrder", "0", 5010),),
        late=True,
    ),
    experiment("POST /pay", Verdict.FAILED, "500 with `oops`", "payment/Charge:empty"),
    experiment("POST /pay", Verdict.DEGRADED, "200, but missing $.id", "ledger/Book"),
    experiment("POST /pay", Verdict.UNKNOWN, "never fired", "ledger/Book:empty"),
    experiment("POST /pay", Verdict.FAILED, "500 with `both`", "payment/Charge", "ledger/Book:timeout"),
    RequestFinished(request="POST /pay", complete_up_to=1, reason="", undecided=(cut("ledger/Book:empty"),)),
    RunFinished(reason=""),
]

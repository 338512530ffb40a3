"""A system whose callers treat each call site differently, and the answer key: whom a fault at each of them hurts.

fatal        shop → payment                 any failure is the user's
tolerated    shop → ads                     answers without, at once; waits if it is slow
retried      shop → stock (gRPC), price     once, twice
slow         shop → ledger                  waits for its limit, then answers without; shop → index: a slow fallback
half         shop → taste                   every second request goes there
deep         shop → order → warehouse → shelf
contained    shop → trip → weather → sensor (gRPC)     trip answers without weather
cached       shop → catalog                 refreshed behind the scenes
quorum       shop → north, south, west      two of three are enough
circuit      shop → lane                    opens, for everybody: what marked requests do, others feel
one route    shop → profile                 fatal for /account, tolerated by /greeting
forgotten    shop → audit                   fired, not waited for
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.impact.habits import (
    Services,
    at_once,
    breaks_circuit,
    caches,
    falls_back,
    forgets,
    needs,
    needs_most,
    only_if,
    retries,
    taking,
    tolerates,
    waits_out,
)

from cutset.model.impact import ApiVerdict

ENTRY = "shop"
GRPC = ("stock", "sensor")
LIMIT_SECONDS = 0.6  # of the caller that waits
SLOW_SECONDS = 0.6  # of the fallback
DELAY = "delay(600ms)"
AFFECTED, RESILIENT = ApiVerdict.AFFECTED, ApiVerdict.RESILIENT


def services() -> Services:
    return {
        ENTRY: {
            "/pay": needs(("payment", "/charge")),
            "/home": tolerates("ads", "/banner"),
            "/stock": retries("stock", "Count", times=1),
            "/price": retries("price", "/quote", times=2),
            "/report": waits_out("ledger", "/sum", seconds=LIMIT_SECONDS),
            "/search": falls_back("index", "/find", instead=("archive", "/find")),
            "/feed": only_if("kind", "personal", needs(("taste", "/profile"))),
            "/order": needs(("order", "/place")),
            "/trip": needs(("trip", "/plan")),
            "/catalog": caches("catalog", "/list", every=4),
            "/vote": needs_most(2, ("north", "/vote"), ("south", "/vote"), ("west", "/vote")),
            "/lane": breaks_circuit("lane", "/go", share=0.25, of_last=20, seconds=0.5),
            "/account": needs(("profile", "/user")),
            "/greeting": tolerates("profile", "/user"),
            "/note": forgets("audit", "/write"),
        },
        "order": {"/place": needs(("warehouse", "/reserve"))},
        "warehouse": {"/reserve": needs(("shelf", "/pick"))},
        "trip": {"/plan": tolerates("weather", "/now")},
        "weather": {"/now": needs(("sensor", "Read"))},
        "archive": {"/find": taking(SLOW_SECONDS)},
        "payment": {"/charge": at_once},
        "ads": {"/banner": at_once},
        "stock": {"Count": at_once},
        "price": {"/quote": at_once},
        "ledger": {"/sum": at_once},
        "index": {"/find": at_once},
        "taste": {"/profile": at_once},
        "shelf": {"/pick": at_once},
        "sensor": {"Read": at_once},
        "catalog": {"/list": at_once},
        **{name: {"/vote": at_once} for name in ("north", "south", "west")},
        "lane": {"/go": at_once},
        "profile": {"/user": at_once},
        "audit": {"/write": at_once},
    }


@dataclass(frozen=True, slots=True)
class Site:
    """A call site, and whom which effect at it hurts. Whoever is not said to be affected is resilient."""

    habit: str
    point: str
    paths: tuple[str, ...]  # what users ask for; a query makes no other API
    upstream: tuple[str, ...]  # APIs before the point, the entry's first
    affected: Mapping[str, tuple[str, ...]]  # by effect and rate
    leaks: bool = False  # what marked requests do, others feel: it must be noticed, whatever else is said


@dataclass(frozen=True, slots=True)
class Case:
    site: Site
    fault: str
    key: Mapping[str, ApiVerdict] = field(hash=False)


def _all_effects(*apis: str) -> dict[str, tuple[str, ...]]:
    return {"abort(503),30%": apis, "abort(503)": apis, DELAY: apis}


def _entries(*paths: str) -> tuple[str, ...]:
    return tuple(f"{ENTRY}/GET {path}" for path in paths)


def _site(habit: str, point: str, path: str, affected: Mapping[str, tuple[str, ...]], *between: str) -> Site:
    return Site(habit, point, (path,), (*_entries(path.partition("?")[0]), *between), affected)


_NOBODY = {"abort(503)": (), DELAY: ()}
SITES = (
    _site("fatal", "payment/GET /charge", "/pay", _all_effects(*_entries("/pay"))),
    _site("fatal, the whole service", "payment/*", "/pay", {"abort(503),50%": _entries("/pay")}),
    _site("tolerated", "ads/GET /banner", "/home", _all_effects() | {DELAY: _entries("/home")}),
    _site("retried once", "stock/Count", "/stock", _all_effects(*_entries("/stock"))),
    _site(
        "retried twice",
        "price/GET /quote",
        "/price",
        {"abort(503),10%": (), "abort(503),60%": _entries("/price"), DELAY: _entries("/price")},
    ),
    _site("waits for its limit", "ledger/GET /sum", "/report", _all_effects(*_entries("/report"))),
    _site("slow fallback", "index/GET /find", "/search", _all_effects(*_entries("/search"))),
    Site(
        "half of the requests",
        "taste/GET /profile",
        ("/feed?kind=personal", "/feed?kind=plain"),
        _entries("/feed"),
        _all_effects(*_entries("/feed")),
    ),
    _site(
        "three hops, fatal",
        "shelf/GET /pick",
        "/order",
        _all_effects(*_entries("/order"), "order/GET /place", "warehouse/GET /reserve"),
        "order/GET /place",
        "warehouse/GET /reserve",
    ),
    _site(
        "three hops, contained",
        "sensor/Read",
        "/trip",
        {
            "abort(503)": ("weather/GET /now",),
            DELAY: (*_entries("/trip"), "trip/GET /plan", "weather/GET /now"),
        },
        "trip/GET /plan",
        "weather/GET /now",
    ),
    _site("cached", "catalog/GET /list", "/catalog", _NOBODY),
    _site("quorum", "north/GET /vote", "/vote", _NOBODY),
    Site("circuit", "lane/GET /go", ("/lane",), _entries("/lane"), {"abort(503)": _entries("/lane")}, leaks=True),
    Site(
        "fatal for one route",
        "profile/GET /user",
        ("/account", "/greeting"),
        _entries("/account", "/greeting"),
        _all_effects(*_entries("/account")) | {DELAY: _entries("/account", "/greeting")},
    ),
    _site("forgotten", "audit/GET /write", "/note", _NOBODY),
)


def cases(sites: tuple[Site, ...] = SITES) -> list[Case]:
    return [
        Case(site, f"{site.point}:{effect}", {api: AFFECTED if api in hurt else RESILIENT for api in site.upstream})
        for site in sites
        for effect, hurt in site.affected.items()
    ]

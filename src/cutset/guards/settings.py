"""The section `guards` of cutset.yaml: what ends injection. What is not given guards nothing, but where users are."""

from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlsplit

from cutset.guards.hours import WorkingHours, is_timezone
from cutset.model.expect import Expect, Name, NotNegative, Pause, Positive, Ratio, Seconds, Status, Url, is_url


def _is_asked_url(text: str) -> bool:
    return is_url(urlsplit(text)._replace(query="").geturl())


Number = Annotated[float, Expect("a number", lambda number: abs(number) < float("inf"))]
AskedUrl = Annotated[str, Expect("a URL such as `https://shop.example.com/health?deep=1`", _is_asked_url)]
HoursText = Annotated[str, Expect("hours such as `Mon-Fri 09:00-17:00`, several apart by `,`", WorkingHours.parse)]
TimezoneName = Annotated[str, Expect("a time zone such as `Europe/Berlin`", is_timezone)]


@dataclass(frozen=True, slots=True)
class PrometheusCondition:
    """Ends injection when any value that the query gives is beyond a limit."""

    url: Url  # of the server: `/api/v1/query` is added
    query: Name
    above: Number | None = None
    below: Number | None = None
    token: Name | None = None  # the environment variable that holds a bearer token

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError("`above` or `below`, or both")


@dataclass(frozen=True, slots=True)
class UrlCondition:
    """Ends injection when the URL is not answered so, or not in time."""

    url: AskedUrl
    status: Status = 200
    within: Seconds = 2.0


@dataclass(frozen=True, slots=True)
class GuardSettings:
    error_rate: Ratio | None = None  # of requests without a fault, over the last `over` seconds; 0: no limit
    latency: Pause | None = None  # seconds that at most one of 20 such requests may exceed; 0: no limit
    over: Seconds = 30.0
    least_requests: Positive = 20  # within that time; fewer tell nothing of a rate
    prometheus: tuple[PrometheusCondition, ...] = ()
    urls: tuple[UrlCondition, ...] = ()
    patience: Pause = 10.0  # seconds for which a Prometheus may say nothing
    max_marked: NotNegative | None = None  # requests that are given a plan, of control too; 0: no limit
    max_failed: NotNegative | None = None  # of those with a fault; 0: no limit
    hours: HoursText = ""
    timezone: TimezoneName = ""  # "": that of this machine
    telemetry: Pause | None = None  # seconds without a span while requests are marked; 0: no limit


# Where users are. A run of 10 minutes at 5 % of 100 requests per second marks 6,000 requests, control included.
LIVE_ERROR_RATE = 0.05
LIVE_MAX_MARKED = 20_000
LIVE_MAX_FAILED = 500
LIVE_TELEMETRY = 10.0


def where_users_are(settings: GuardSettings) -> GuardSettings:
    """With the guards that are on by default on live traffic; 0 in the file switches one off."""
    defaults = {
        "error_rate": LIVE_ERROR_RATE,
        "max_marked": LIVE_MAX_MARKED,
        "max_failed": LIVE_MAX_FAILED,
        "telemetry": LIVE_TELEMETRY,
    }
    missing = {name: value for name, value in defaults.items() if getattr(settings, name) is None}
    return replace(settings, **missing)  # type: ignore[arg-type]

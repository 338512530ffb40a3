"""What an impact is to do, and for how long: the section `impact` of cutset.yaml.

Shares and rates are percentages here, as people write them, and shares from 0 to 1 in events.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from cutset.errors import UsageError
from cutset.model.effect import UNAVAILABLE, Effect
from cutset.model.expect import EffectText, ErrorRate, Expect, Percent, Rate
from cutset.model.fault import Cut, Fault
from cutset.model.impact import ImpactStarted, ImpactWindow, Matching, TrafficSource, UserKey
from cutset.model.point import Point

LIVE_SHARE = 5.0  # percent: of users, who did not ask for it
SENT_SHARE = 50.0  # of requests of our own: the other half are control
DAY_SECONDS = 86_400.0

WholePercent = Annotated[int, Expect("a whole percentage from 1 to 100", lambda percent: 1 <= percent <= 100)]
WindowSeconds = Annotated[
    float, Expect("seconds above 0, at most a day (86400)", lambda seconds: 0 < seconds <= DAY_SECONDS)
]
WatchedSeconds = Annotated[
    float, Expect("seconds from 0 to a day (86400)", lambda seconds: 0 <= seconds <= DAY_SECONDS)
]


@dataclass(frozen=True, slots=True)
class ImpactSettings:
    effect: EffectText = str(UNAVAILABLE)
    rate: WholePercent = 100  # of the calls of a request with the fault; all of few hurts fewer users than few of many
    share: Percent | None = None  # of requests, with the fault; as many again are control
    ramp: tuple[Percent, ...] = ()  # shares instead, one after the other
    before: WatchedSeconds = 30.0
    during: WindowSeconds = 120.0  # of each step of the ramp
    after: WatchedSeconds = 30.0
    alpha: ErrorRate = 0.01  # the chance of any false alarm, over all APIs and all looks together
    margin: Percent = 2.0  # points: an increase of failures below this is called resilient
    matching: Matching = field(default_factory=Matching)  # which live requests may be marked
    user: UserKey = field(default_factory=UserKey)
    load: Rate = 20.0  # requests per second, where we send them
    stop_when_decided: bool = True  # then the end is chosen by what was seen, and intervals are wider

    def __post_init__(self) -> None:
        for share in (*self.ramp, self.share or 0):
            if 2 * share > 100:
                raise UsageError(
                    f"`impact`: a share of {share:g} % and a control of equal size are more than all requests",
                    hint="Choose a share of at most 50 %",
                )
        if self.ramp and self.share is not None:
            raise UsageError("`impact` has `share` and `ramp`", hint="The steps of a ramp are shares: leave one out")
        if list(self.ramp) != sorted(set(self.ramp)):
            steps = ", ".join(f"{share:g} %" for share in self.ramp)
            raise UsageError(f"`impact.ramp`: expected shares that rise, found {steps}", hint="Put them in order")
        if self.user.header and self.user.cookie:
            raise UsageError(
                f"`impact.user` has the header `{self.user.header}` and the cookie `{self.user.cookie}`",
                hint="Name the one that tells users apart",
            )
        if self.matching.path and not self.matching.path.startswith("/"):
            raise UsageError(
                f"`impact.matching.path`: expected a path that begins with `/`, found `{self.matching.path}`",
                hint="Write `/cart`, `/product/*` for one segment, `/api/**` for all below",
            )

    def shares(self, traffic: TrafficSource) -> tuple[float, ...]:
        """The steps, from 0 to 1."""
        usual = LIVE_SHARE if traffic is TrafficSource.LIVE else SENT_SHARE
        return tuple(share / 100 for share in self.ramp or (self.share or usual,))

    def cut_at(self, points: Iterable[Point]) -> Cut:
        effect = Effect.parse(self.effect)
        return frozenset(Fault(point, effect, self.rate) for point in points)

    def started(
        self, cut: Cut, traffic: TrafficSource, *, entries: tuple[str, ...] = (), workflow: int = 0, by: str = ""
    ) -> ImpactStarted:
        return ImpactStarted(
            cut=cut,
            traffic=traffic,
            shares=self.shares(traffic),
            seconds={
                ImpactWindow.BEFORE: self.before,
                ImpactWindow.DURING: self.during,
                ImpactWindow.AFTER: self.after,
            },
            entries=entries,
            matching=replace(self.matching, headers=_in_lower_case(self.matching.headers)),
            user=self.user,
            alpha=self.alpha,
            margin=self.margin / 100,
            workflow=workflow,
            by=by,
        )


def _in_lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}

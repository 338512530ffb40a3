"""What a fault does to one API: affected, resilient, or nobody can tell yet; in words with the numbers that decide.

*Affected* needs the coin: the chance of any false alarm over all APIs and all looks is α. *Resilient* needs an interval
of the increase that ends below the margin, for failures and for what is slow or failed; and a fault that fired in more
requests than the margin, else it would be true of an API that dies of it. All else cannot be told, and how many more
requests would probably decide is estimated from what was seen.
"""

from dataclasses import dataclass, replace

from cutset.judge.api_record import ApiRecord
from cutset.judge.confidence_sequence import difference_at_any_time, planned_information, sequence_z
from cutset.judge.intervals import clustered_difference
from cutset.judge.quantile_interval import quantile_difference
from cutset.judge.sample_size import MOST, requests_to_exclude_harm, requests_to_see_harm
from cutset.judge.user_sums import UserSums
from cutset.model.impact import ApiImpact, ApiVerdict, Interval
from cutset.model.point import Point
from cutset.model.wording import count

SLOWER_RANK = 0.95


@dataclass(frozen=True, slots=True)
class Terms:
    """By which all APIs of one run are judged."""

    alpha: float
    margin: float
    questions: int = 1  # that are asked together, of all APIs
    ended_as_planned: bool = False
    obstacle: str = ""  # why nothing can be told of any API
    lost: str = ""  # why no API may be called resilient
    expects_fault: bool = True  # False: nothing is injected, to see what chance alone brings about


@dataclass(frozen=True, slots=True)
class Chances:
    """Of as much evidence without an effect, at any look and over all APIs."""

    failed: float = 1.0
    slow_or_failed: float = 1.0


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: ApiVerdict
    reason: str
    more_requests: int = 0


@dataclass(frozen=True, slots=True)
class _Increase:
    """Of bad requests, fault less control."""

    what: str  # became of them
    fault: UserSums
    control: UserSums
    at_any_time: Interval
    at_end: Interval | None

    @property
    def difference(self) -> float:
        return self.fault.share - self.control.share if self.fault.requests and self.control.requests else 0.0

    @property
    def interval(self) -> Interval:
        return self.at_end or self.at_any_time

    def __str__(self) -> str:
        return (
            f"{_share(self.fault)} {self.what}, {_share(self.control)} of the control: "
            f"{100 * self.difference:+.1f} points ({100 * self.interval.low:+.1f} to {100 * self.interval.high:+.1f})"
        )


def describe(api: Point, record: ApiRecord, terms: Terms) -> ApiImpact:
    """The numbers alone: what is faulted itself is not judged."""
    return _described(api, record, terms, _increase_of_failed(record, terms))


def judge_api(api: Point, record: ApiRecord, chances: Chances, terms: Terms) -> ApiImpact:
    failed, bad = _increase_of_failed(record, terms), _increase_of_bad(record, terms)
    outcome = _outcome(record, failed, bad, chances, terms)
    return replace(
        _described(api, record, terms, failed),
        verdict=outcome.verdict,
        reason=outcome.reason,
        chance=chances.failed,
        slow_chance=chances.slow_or_failed,
        more_requests=outcome.more_requests,
    )


def _described(api: Point, record: ApiRecord, terms: Terms, failed: _Increase) -> ApiImpact:
    return ApiImpact(
        api,
        ApiVerdict.CANNOT_TELL,
        "faulted itself: not judged",
        before=record.before.sample(),
        fault=record.fault.sample(),
        control=record.control.sample(),
        difference=failed.difference,
        at_any_time=failed.at_any_time,
        at_end=failed.at_end,
        slower=_slower(record, terms),
    )


def _outcome(record: ApiRecord, failed: _Increase, bad: _Increase, chances: Chances, terms: Terms) -> _Outcome:
    if terms.obstacle:
        return _Outcome(ApiVerdict.CANNOT_TELL, terms.obstacle)
    if chances.failed <= terms.alpha:
        return _Outcome(ApiVerdict.AFFECTED, f"by failures: {failed}")
    if chances.slow_or_failed <= terms.alpha:
        return _Outcome(ApiVerdict.AFFECTED, f"by slowness: {bad}")
    return _without_alarm(record, failed, bad, terms)


def _without_alarm(record: ApiRecord, failed: _Increase, bad: _Increase, terms: Terms) -> _Outcome:
    if not record.fault.failed.requests or not record.control.failed.requests:
        missing = "with the fault" if not record.fault.failed.requests else "of the control"
        return _Outcome(ApiVerdict.CANNOT_TELL, f"no request {missing} called it yet", _more_requests(record, terms))
    reason = str(failed if failed.interval.high >= bad.interval.high else bad)
    below = f"less than the margin of {100 * terms.margin:g}"
    if max(failed.interval.high, bad.interval.high) >= terms.margin or record.slow_limit is None:
        more = _more_requests(record, terms)
        enough = f"about {count(more, 'more request')} in each group would decide" if more else "no number would decide"
        return _Outcome(ApiVerdict.CANNOT_TELL, f"{reason}, not {below}; {enough}", more)
    if terms.lost:
        return _Outcome(ApiVerdict.CANNOT_TELL, f"{reason}, {below}, but {terms.lost}")
    fired = f"the fault fired in {record.fired:,} of {count(record.fault.failed.requests, 'request')}"
    if terms.expects_fault and record.fired <= terms.margin * record.fault.failed.requests:
        return _Outcome(
            ApiVerdict.CANNOT_TELL, f"{fired}, which is not more than the margin: raise the rate, or lower it"
        )
    return _Outcome(ApiVerdict.RESILIENT, f"{reason}, {below}; {fired}")


def _increase_of_failed(record: ApiRecord, terms: Terms) -> _Increase:
    return _increase("failed", record.fault.failed, record.control.failed, terms)


def _increase_of_bad(record: ApiRecord, terms: Terms) -> _Increase:
    limit = "" if record.slow_limit is None else f" or took longer than {record.slow_limit:.2g} s"
    return _increase(f"failed{limit}", record.fault.slow_or_failed, record.control.slow_or_failed, terms)


def _increase(what: str, fault: UserSums, control: UserSums, terms: Terms) -> _Increase:
    planned = planned_information(terms.margin, terms.alpha)
    return _Increase(
        what,
        fault,
        control,
        difference_at_any_time(fault, control, planned, terms.alpha),
        clustered_difference(fault, control, terms.alpha) if terms.ended_as_planned else None,
    )


def _slower(record: ApiRecord, terms: Terms) -> Interval | None:
    """At any look: as wide as differences of shares are by then."""
    fault, control = record.fault.failed.smoothed(), record.control.failed.smoothed()
    information = 1 / (fault.variance + control.variance)
    z = sequence_z(information, planned_information(terms.margin, terms.alpha), terms.alpha)
    return quantile_difference(record.fault.seconds, record.control.seconds, SLOWER_RANK, z)


def _more_requests(record: ApiRecord, terms: Terms) -> int:
    """In each group; 0: no number would do."""
    have = min(record.fault.failed.requests, record.control.failed.requests)
    harm, no_harm = MOST, 0
    for fault, control in (
        (record.fault.failed, record.control.failed),
        (record.fault.slow_or_failed, record.control.slow_or_failed),
    ):
        per_request = max(_size(fault), _size(control))
        if fault.share > control.share:
            needed = requests_to_see_harm(control.share, fault.share, terms.alpha / terms.questions)
            harm = min(harm, round(per_request * needed))
        needed = requests_to_exclude_harm(control.share, max(control.share, fault.share), terms.margin, terms.alpha)
        no_harm = max(no_harm, round(per_request * needed))
    needed = min(harm, no_harm)
    return max(1, needed - have) if needed < MOST else 0


def _size(sums: UserSums) -> float:
    """How many requests of users who repeat themselves tell as much as one of a user who does not."""
    return max(1.0, sums.requests / sums.effective_requests) if sums.effective_requests else 1.0


def _share(sums: UserSums) -> str:
    return f"{sums.bad:,} of {sums.requests:,} ({sums.share:.1%})"

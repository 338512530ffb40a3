"""An impact in words and numbers, alike on the terminal and on the page: plain text, with code between backticks."""

from collections.abc import Iterator
from math import isinf

from cutset.model.effect import Effect, EffectKind
from cutset.model.fault import Fault
from cutset.model.impact import (
    ApiImpact,
    ApiVerdict,
    Group,
    Impact,
    ImpactStarted,
    Interval,
    Matching,
    TrafficSource,
    UserKey,
)
from cutset.model.wording import count

SIGNS = {ApiVerdict.AFFECTED: "✗", ApiVerdict.RESILIENT: "✓", ApiVerdict.CANNOT_TELL: "?"}
AMPLIFIED = 1.1  # times the attempts of the control: requests that differ make for less
_ORDINALS = ("first", "second", "third")
_GRPC = {
    1: "CANCELLED",
    2: "UNKNOWN",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    6: "ALREADY_EXISTS",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION",
    10: "ABORTED",
    11: "OUT_OF_RANGE",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    15: "DATA_LOSS",
    16: "UNAUTHENTICATED",
}


def what_was_done(started: ImpactStarted) -> str:
    """`payment/Charge answered 503 at 30 % of calls, in 5 % of live requests`."""
    faults = " and ".join(map(fault_in_words, sorted(started.cut))) or "nothing was injected"
    return f"{faults}, in {population(started)}"


def fault_in_words(fault: Fault) -> str:
    point = fault.point
    who = f"all of {point.service}" if point.api == "*" else str(point)
    rate = "every call" if fault.percent == 100 else f"{fault.percent} % of calls"
    return f"{who} {_deed(fault.effect)} at {rate}{_which_calls(fault.effect)}"


_DEEDS = {
    EffectKind.ABORT: "answered {value}",
    EffectKind.GRPC: "answered {status}",
    EffectKind.DELAY: "was delayed by {seconds}",
    EffectKind.TIMEOUT: "did not answer",
    EffectKind.CONNECTION_REFUSED: "refused connections",
    EffectKind.CONNECTION_RESET: "broke connections",
    EffectKind.LIBRARY: "failed by `{name}`",
}


def _deed(effect: Effect) -> str:
    text = _DEEDS.get(effect.kind, f"gave {effect.kind} answers")
    return text.format(
        value=effect.value,
        status=_GRPC.get(effect.value, ""),
        seconds=seconds_in_words(effect.value / 1000),
        name=effect.name,
    )


def _which_calls(effect: Effect) -> str:
    parts = []
    if effect.attempts:
        parts.append("the first attempt" if effect.attempts == 1 else f"the first {effect.attempts} attempts")
    if effect.call:
        parts.append(f"the {_ORDINALS[effect.call - 1]} call" if effect.call <= 3 else f"call {effect.call}")
    return f" ({', '.join(parts)} only)" if parts else ""


def population(started: ImpactStarted) -> str:
    """Which requests, and how many of them."""
    which = {TrafficSource.LIVE: "live", TrafficSource.LOAD: "our own", TrafficSource.REPLAY: "replayed"}
    text = f"{shares_in_words(started.shares)} of {which[started.traffic]} requests"
    if started.entries:
        text += f" {', '.join(started.entries)}"
    matched = matching_in_words(started.matching)
    return f"{text} with {matched}" if matched else text


def shares_in_words(shares: tuple[float, ...]) -> str:
    return ", then ".join(f"{100 * share:.3g} %" for share in shares) or "none"


def matching_in_words(matching: Matching) -> str:
    asked = " ".join(filter(None, (matching.method, matching.path)))
    parts = [f"`{asked}`"] if asked else []
    for kind, wanted in (("header", matching.headers), ("cookie", matching.cookies), ("query", matching.query)):
        parts += [f"{kind} `{name}{f'={value}' if value else ''}`" for name, value in wanted.items()]
    return ", ".join(parts)


def user_in_words(user: UserKey) -> str:
    if user.header or user.cookie:
        return f"by header `{user.header}`" if user.header else f"by cookie `{user.cookie}`"
    return "each request by itself"


def groups_in_words(impact: Impact) -> str:
    marked = impact.marked
    return f"{count(marked.get(Group.FAULT, 0), 'request')} with the fault, {marked.get(Group.CONTROL, 0):,} control"


def rate_in_words(rate: float) -> str:
    """`100 %` is said of nothing that failed once."""
    if rate in (0.0, 1.0):
        return f"{100 * rate:.0f} %"
    percent = 100 * rate
    near = min(percent, 100 - percent)
    digits = 1 if near >= 1 else 2 if near >= 0.01 else 4
    return f"{percent:.{digits}f} %"


def points_in_words(difference: float) -> str:
    """A difference of shares: `+21.7 points`, of failures: more is worse."""
    return f"{_signed(difference)} points"


def interval_in_words(interval: Interval) -> str:
    return f"[{_signed(interval.low)}, {_signed(interval.high)}]"


def _signed(difference: float) -> str:
    text = f"{100 * difference:+.{1 if abs(difference) >= 0.01 else 2}f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def interval_of(api: ApiImpact) -> Interval:
    """The narrower one, where it may be used."""
    return api.at_end or api.at_any_time


def difference_in_words(api: ApiImpact) -> str:
    interval = interval_of(api)
    nothing_known = interval == Interval(-1.0, 1.0)
    return points_in_words(api.difference) + ("" if nothing_known else f" {interval_in_words(interval)}")


def seconds_in_words(seconds: float) -> str:
    if isinf(seconds):
        return "∞"
    return f"{1000 * seconds:.3g} ms" if abs(seconds) < 0.9995 else f"{seconds:.3g} s"


def p95_in_words(api: ApiImpact) -> str:
    values = [sample.seconds.get("p95") for sample in (api.control, api.fault)]
    return " → ".join("–" if each is None else seconds_in_words(each) for each in values)


def slower_in_words(slower: Interval) -> str:
    low, high = (seconds_in_words(each).replace("-", "−") for each in (slower.low, slower.high))
    between = f"at least {low}" if isinf(slower.high) else f"between {low} and {high}"
    return f"p95 is {between} later than in the control"


def attempts_in_words(api: ApiImpact) -> str:
    return f"{api.control.attempts:.2f} → {api.fault.attempts:.2f}"


def is_amplified(api: ApiImpact) -> bool:
    return api.fault.requests > 0 and api.fault.attempts > AMPLIFIED * max(api.control.attempts, 1.0)


def recovery_in_words(api: ApiImpact) -> str:
    """Empty if it never was off."""
    if api.still_off:
        return "still off at the end"
    return "" if api.recovered_after is None else f"well again {api.recovered_after:.1f} s after the last fault"


def injected_in_words(impact: Impact) -> str:
    if not impact.faulted:
        return "no call is known to have been faulted"
    return f"{count(impact.faulted, 'attempt')} faulted, by the word of the mesh or of agents"


def others_in_words(impact: Impact) -> str:
    failed, requests = impact.others_failed
    if not requests:
        return "no unmarked request was seen"
    share = f" ({rate_in_words(failed / requests)})" if failed else ""
    return f"{failed:,} of {requests:,} unmarked requests failed during the fault{share}"


def confidence_in_words(impact: Impact) -> str:
    started = impact.started
    return (
        f"More failures: the share that failed with the fault, less that of the control at the same time, with "
        f"{100 * (1 - started.alpha):.3g} % intervals; less than {100 * started.margin:.2g} points is called resilient"
    )


def advice(impact: Impact) -> Iterator[str]:
    """What to do next."""
    if impact.problems:
        yield "First see to what keeps this from being believed, then repeat it"
    if affected := [api for api in impact.apis if api.verdict is ApiVerdict.AFFECTED]:
        # Of those that suffer most the innermost: there a remedy has the shortest way.
        worst = max(reversed(affected), key=lambda api: api.difference)
        yield f"`{worst.api}` does not cope with the fault: look at a failed trace, `cutset harden` has remedies"
    open_apis = [api for api in impact.apis if api.verdict is ApiVerdict.CANNOT_TELL]
    if more := max((api.more_requests for api in open_apis), default=0):
        names = "One API" if len(open_apis) == 1 else f"{len(open_apis)} APIs"
        yield (
            f"{names} cannot be told yet: about {more:,} more requests in each group would do; let the window be "
            "longer, or the share larger"
        )
    if amplified := [api for api in (*impact.apis, *impact.target) if is_amplified(api)]:
        most = max(amplified, key=lambda api: api.fault.attempts - api.control.attempts)
        yield (
            f"`{most.api}` is called {most.fault.attempts:.2f} times per request instead of "
            f"{most.control.attempts:.2f}: retries add load when it is in trouble anyway"
        )
    if impact.verdict is ApiVerdict.RESILIENT and not impact.problems:
        yield "Nothing upstream is affected: try a higher rate, or another effect"

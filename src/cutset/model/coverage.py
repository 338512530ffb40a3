"""Calls that a request makes and no fault can be injected into, and why."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from cutset.model.wording import count

SHOWN = 5  # calls that are out of reach for the same reason, in one sentence


class OutOfReach(StrEnum):
    """Why no plan reaches a call."""

    OTHER_TRACE = "in another trace"  # the caller made it without the trace context
    WITHOUT_PLAN = "without the plan"  # the caller handed on the trace, and none of what carries the plan
    REFUSED = "plan refused"  # by the sidecar of the callee
    PAST_MESH = "past the mesh"  # no sidecar saw it: it went to a real port, or to a third party
    DATA_STORE = "data store"  # called directly; likewise brokers
    SOME_AGENTS = "some agents"  # not all replicas of the caller have an agent, which alone could reach the call
    UNTOLD = "not told"  # whatever else services may call that export no spans: only sidecars tell of them


@dataclass(frozen=True, slots=True, order=True)
class Uncoverable:
    call: str  # a point as far as the mesh saw it; else what the caller's own span calls it
    why: OutOfReach
    caller: str = ""  # a service; empty: nobody knows
    address: str = ""  # where the call went, if it went past the mesh
    detail: str = ""

    @property
    def reason(self) -> str:
        by = f" by {self.caller}" if self.caller else ""
        at = f" at {self.address}" if self.address else ""
        match self.why:
            case OutOfReach.OTHER_TRACE:
                text = f"called{by} without the trace context, so no plan reaches it"
            case OutOfReach.WITHOUT_PLAN:
                text = f"called{by} without the plan"
            case OutOfReach.REFUSED:
                text = f"called{by} with a plan that its sidecar refused: key, environment or clock differ"
            case OutOfReach.PAST_MESH:
                text = f"called{by}{at} past the mesh: no sidecar saw it"
            case OutOfReach.DATA_STORE:
                text = f"called{by}{at} directly"
            case OutOfReach.SOME_AGENTS:
                text = f"called{by}, where only some replicas have an agent"
            case OutOfReach.UNTOLD:
                text = f"not known of {self.caller}, of which no spans of their own came"
        return f"{text}: {self.detail}" if self.detail else text

    @property
    def is_service(self) -> bool:
        """Whether it could be behind the mesh, so that nobody can say that the request survives its failure."""
        return self.why not in (OutOfReach.DATA_STORE, OutOfReach.SOME_AGENTS, OutOfReach.UNTOLD)


def with_name(each: Uncoverable, names: Mapping[str, str]) -> Uncoverable:
    """Of a call past the mesh, whose own address it went to, if it is a server of the mesh. `names` are by address."""
    if each.address not in names:
        return each
    return replace(each, detail=f"that is the own address of {names[each.address]}")


def with_agent_advice(each: Uncoverable, agents: Collection[str]) -> Uncoverable:
    """What an agent in the caller would reach, or why the one that is there does not."""
    if each.detail or not each.caller or each.why is not OutOfReach.DATA_STORE:
        return each
    if each.caller in agents:
        return replace(each, detail=f"the agent in {each.caller} has no hook for it")
    return replace(each, detail=f"an agent in {each.caller} would reach it: `cutset agent run`")


def nothing_reached(uncoverable: Iterable[Uncoverable]) -> str:
    """Why a request could not be tested at all, of which no call was reached."""
    known = sorted(uncoverable)
    text = "no call of it was seen that a plan reaches, so nothing was injected"
    if not known:
        return f"{text}; nor was any other call seen: if it makes some, they are not traced"
    alike = {why: [each.call for each in known if each.why is why] for why in OutOfReach}
    seen = "; ".join(f"{why}: {_some(calls)}" for why, calls in alike.items() if calls)
    return f"{text}; seen were, {seen}"


def _some(calls: list[str]) -> str:
    more = f" and {count(len(calls) - SHOWN, 'more call')}" if len(calls) > SHOWN else ""
    return f"{', '.join(calls[:SHOWN])}{more}"

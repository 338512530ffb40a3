"""Which values of recorded requests must be others when they are sent again (CAST §3.2). Pure.

CAST takes a value for dynamic if it stands in a request and in its answer (intra-span correlation), and differs between
exchanges of the same class (inter-span variability). Taken literally that misses an idempotency key, which no answer
repeats, and makes a new value of the product's id in `GET /products/17`, which then is not found. So the two stages are
asked of more, and the first answer that applies decides:

1. *chained*: an earlier answer of the same flow gave the value out, and gave no other flow the same one;
2. *time*: it is a time near that of its request, and not the same in requests that a clock tells apart;
3. *fresh*: the client made it up. It differs between flows, no answer had it before, it is an identifier by shape, and
   it does not name something that must exist. If many other things have that shape too (`ord-17`), its name, or an
   answer that says `created` and repeats it, must support that.

All else is constant. Every decision carries its reason; `rules` overrule them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cutset.workload.templates.flows import ReadExchange
from cutset.workload.templates.rules import Rules, find_rule
from cutset.workload.values.identifiers import COUNTED_SHAPES, RANDOM_SHAPES, shape_of
from cutset.workload.values.times import is_near, time_in

CHAINED_CHARACTERS = 4  # a shorter value is in many answers by chance: then the names must agree

_INDEX = re.compile(r"/\d+(?=/|$|[:#])")
_ID_NAME = re.compile(r"(?:^|[_-])(?:id|key|number|no|code|uuid|ref|reference)$|[a-z](?:Id|ID|Key|Number|No|Code)$")
_INVENTED_NAME = re.compile(
    r"idempot|nonce|dedup|correlation|(?:request|client|message|event|transaction|operation|external)[_-]?(?:id|ref|key)"
    r"|uuid|guid|reference",
    re.IGNORECASE,
)
# What a client says about itself and its wishes is the same at every replay.
_FIXED = re.compile(
    r"header/(?:accept.*|content-.*|connection|cache-control|pragma|te|upgrade.*|sec-.*|dnt|origin|transfer-encoding)(?:[:#]|$)"
)
_NAMING = ("path/", "header/referer", "header/if-")
_READS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


@dataclass(frozen=True, slots=True)
class Variable:
    place: str
    kind: str  # chained, time, fresh, value, cookie, constant, secret
    why: str
    step: int = -1  # of a chained one: the step of the flow, from 0, and the place in its answer
    source: str = ""  # of a value: its environment variable


def general(place: str) -> str:
    """`body/items/*/sku`: the items of a list are instances of one thing."""
    return _INDEX.sub("/*", place) if place.startswith("body") else place


@dataclass(slots=True)
class _Seen:
    """What a place of a request class, or of its answers, has held."""

    flows: set[int] = field(default_factory=set)
    flows_by_value: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    moments: dict[str, tuple[float, float]] = field(default_factory=dict)  # by value: of its first and last request
    uses: int = 0
    is_shared: bool = False  # two flows had the same value

    def note(self, value: str, flow: int, moment: float) -> None:
        self.uses += 1
        self.flows.add(flow)
        self.flows_by_value[value].add(flow)
        self.moments[value] = (self.moments.get(value, (moment,))[0], moment)
        self.is_shared |= len(self.flows_by_value[value]) > 1

    def flows_with(self, value: str) -> int:
        return len(self.flows_by_value[value])


@dataclass(frozen=True, slots=True)
class _Evidence:
    requests: Mapping[tuple[str, str], _Seen]  # by class and general place
    answers: Mapping[tuple[str, str], _Seen]
    servers: frozenset[str]  # values that an answer had before any request


def variables_of(flows: Sequence[Sequence[ReadExchange]], rules: Rules = ()) -> list[list[list[Variable]]]:
    """For each flow and each of its steps the places of its request; each value with the reason for what it is."""
    evidence = _evidence(flows)
    return [_flow_variables(flow, evidence, rules) for flow in flows]


def _evidence(flows: Sequence[Sequence[ReadExchange]]) -> _Evidence:
    requests: dict[tuple[str, str], _Seen] = defaultdict(_Seen)
    answers: dict[tuple[str, str], _Seen] = defaultdict(_Seen)
    asked: set[str] = set()
    servers: set[str] = set()
    everything = ((number, reading) for number, flow in enumerate(flows) for reading in flow)
    for number, reading in sorted(everything, key=lambda each: each[1].exchange.started_at):
        for place, value in reading.request.items():
            requests[reading.name, general(place)].note(value, number, reading.exchange.started_at)
            asked.add(value)
        for place, value in reading.response.items():
            answers[reading.name, general(place)].note(value, number, reading.exchange.started_at)
            if value not in asked:
                servers.add(value)
    return _Evidence(requests, answers, frozenset(servers))


def _flow_variables(flow: Sequence[ReadExchange], evidence: _Evidence, rules: Rules) -> list[list[Variable]]:
    given: dict[str, list[tuple[int, str]]] = {}  # by value: the first answer of this flow that had it, and where
    cookies: set[str] = set()  # that an answer of this flow has set
    own: set[str] = set()  # values that this flow's requests had before any answer
    invented: set[str] = set()
    steps = []
    for number, reading in enumerate(flow):
        variables = []
        for place, value in reading.request.items():
            variable = (
                _by_hand(flow, number, place, rules)
                or _cookie(place, value, cookies)
                or _chained(flow, place, value, given.get(value, []), evidence)
                or _time(reading, place, value, evidence)
                or _fresh(reading, place, value, evidence, invented)
            )
            if variable.kind == "fresh":
                invented.add(value)
            variables.append(variable)
        own.update(reading.request.values())
        for place, value in reading.response.items():
            if place.startswith("cookie/"):
                cookies.add(place)
            if value not in own and (value not in given or given[value][0][0] == number):
                given.setdefault(value, []).append((number, place))
        steps.append(variables)
    return steps


def _by_hand(flow: Sequence[ReadExchange], number: int, place: str, rules: Rules) -> Variable | None:
    rule = find_rule(rules, flow[number].name, place) or find_rule(rules, flow[number].name, general(place))
    if rule is None:
        return None
    if rule.kind != "chained":
        return Variable(place, rule.kind, "by hand", source=rule.source)
    method, path, source = rule.source.split()
    step = next((step for step in range(number - 1, -1, -1) if flow[step].name == f"{method} {path}"), -1)
    if step < 0:
        return Variable(place, "constant", f"by hand chained from `{rule.source}`, which this flow has not before it")
    return Variable(place, "chained", "by hand", step, source)


def _cookie(place: str, value: str, cookies: set[str]) -> Variable | None:
    if not place.startswith("cookie/"):
        return None
    if place in cookies:
        return Variable(place, "cookie", "an earlier answer of the flow has set it")
    if shape_of(value) == "secret":
        return Variable(place, "secret", "masked, and set before the recording: left out unless an answer sets it")
    return Variable(place, "constant", "set before the recording")


def _chained(
    flow: Sequence[ReadExchange], place: str, value: str, sources: Sequence[tuple[int, str]], evidence: _Evidence
) -> Variable | None:
    if _FIXED.match(place):
        return None
    for step, source in sorted(sources, key=lambda each: not _is_id(each[1])):
        seen = evidence.answers[flow[step].name, general(source)]
        named = _is_id(source) and (place.startswith("path/") or _is_id(place))
        if len(value) < CHAINED_CHARACTERS and not named:
            continue
        where = f"`{source}` of the answer to step {step + 1}, `{flow[step].name}`"
        if seen.flows_with(value) > 1:
            continue  # the same for all: a product of the catalogue, a currency
        if len(seen.flows) > 1:
            return Variable(place, "chained", f"from {where}, another in each of {len(seen.flows)} flows", step, source)
        if named or shape_of(value) in RANDOM_SHAPES | {"secret", "counted"}:
            return Variable(place, "chained", f"from {where}; one flow only, so its shape decides", step, source)
    return None


def _time(reading: ReadExchange, place: str, value: str, evidence: _Evidence) -> Variable | None:
    time = time_in(value)
    if time is None or not is_near(time, reading.exchange.started_at):
        return None
    seen = evidence.requests[reading.name, general(place)]
    first, last = seen.moments[value]
    if last - first > max(60.0, time.precision) and seen.flows_with(value) > 1:
        return Variable(place, "constant", f"a time, but the same in requests {last - first:.0f} s apart")
    distance = time.seconds - reading.exchange.started_at
    return Variable(
        place, "time", f"{distance:+.0f} s from its request" if time.precision == 1 else "a day near its request"
    )


def _fresh(reading: ReadExchange, place: str, value: str, evidence: _Evidence, invented: set[str]) -> Variable:
    shape = shape_of(value)
    if value in invented:
        return Variable(place, "fresh", "made up earlier in the flow")
    if shape == "secret":
        return Variable(place, "secret", "masked, and given out by no answer of the flow: register a value for it")
    seen = evidence.requests[reading.name, general(place)]
    if objection := _objection(reading, place, value, seen, evidence):
        return Variable(place, "constant", objection)
    return _fresh_if_supported(reading, place, value, shape, len(seen.flows_by_value))


def _objection(reading: ReadExchange, place: str, value: str, seen: _Seen, evidence: _Evidence) -> str:
    """Why the client cannot have made it up."""
    objections = {
        "not an identifier by its shape": shape_of(value) not in RANDOM_SHAPES | COUNTED_SHAPES or _FIXED.match(place),
        "names something that must exist": place.startswith(_NAMING) and reading.exchange.method in _READS,
        "an answer had it before any request: it names something that exists": value in evidence.servers,
        f"the same in all {seen.uses} requests of the class": len(seen.flows_by_value) == 1 and seen.uses > 1,
        "some flows share values: a choice among things that exist": seen.is_shared,
    }
    return next((reason for reason, applies in objections.items() if applies), "")


def _fresh_if_supported(reading: ReadExchange, place: str, value: str, shape: str, distinct: int) -> Variable:
    echoed = value in reading.response.values()
    support = [f"{shape} by shape"]
    if distinct > 1:
        support.append(f"{distinct} different values")
    if echoed:
        support.append("its answer repeats it")
    if telling := bool(_INVENTED_NAME.search(place)):
        support.append("its name says so")
    created = echoed and reading.exchange.status == 201 and shape == "counted" and distinct > 1
    if telling or created or (shape in RANDOM_SHAPES and distinct > 1):
        return Variable(place, "fresh", ", ".join(support))
    missing = "seen once" if distinct == 1 else "nothing shows that the client made it up"
    return Variable(place, "constant", f"{', '.join(support)}, but {missing}: register it if it is")


def _is_id(place: str) -> bool:
    name = re.sub(r"[:#][\d:#]+$", "", place).rpartition("/")[2]
    return bool(_ID_NAME.search(name)) or place.startswith(("header/location", "link"))

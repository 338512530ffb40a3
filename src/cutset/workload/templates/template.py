"""Recorded flows made replayable: each request with the places that get another value, and where that comes from."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from cutset.model.exchange import Exchange
from cutset.workload.templates.flows import flows_of, read
from cutset.workload.templates.rules import Rules
from cutset.workload.templates.variables import Variable, variables_of
from cutset.workload.values.fields import Message, header, request_of, rewrite

_SENT_AS_RECORDED = frozenset({"constant", "secret"})


@dataclass(frozen=True, slots=True)
class TemplateStep:
    name: str  # the request class
    exchange: Exchange
    blanks: tuple[Variable, ...] = ()  # get another value at each replay
    constants: tuple[Variable, ...] = ()  # do not, and why not


@dataclass(frozen=True, slots=True)
class Template:
    id: str  # the same for the same exchanges
    steps: tuple[TemplateStep, ...]
    verbatim: bool = False  # send what was recorded, whatever the variables are


def templates_of(exchanges: Iterable[Exchange], rules: Rules = ()) -> tuple[Template, ...]:
    """One for each flow. What cannot be sent again is left out."""
    flows = flows_of([read(exchange) for exchange in exchanges if not unsendable(exchange)])
    templates = []
    for flow, steps in zip(flows, variables_of(flows, rules), strict=True):
        made = tuple(
            TemplateStep(reading.name, reading.exchange, *_parted(variables))
            for reading, variables in zip(flow, steps, strict=True)
        )
        ids = "\n".join(step.exchange.id for step in made)
        templates.append(Template(hashlib.sha256(ids.encode()).hexdigest()[:10], made))
    return tuple(templates)


def _parted(variables: Sequence[Variable]) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
    constants = tuple(variable for variable in variables if variable.kind in _SENT_AS_RECORDED)
    return tuple(variable for variable in variables if variable.kind not in _SENT_AS_RECORDED), constants


def verbatim(template: Template) -> Template:
    """The same requests as they were: the naive replay."""
    return replace(template, verbatim=True)


def unsendable(exchange: Exchange) -> str:
    """Why an exchange cannot be replayed; empty if it can."""
    if not exchange.method.isalpha() or exchange.method in {"MESSAGE", "CONNECT"} or not exchange.path.startswith("/"):
        return "no HTTP request to a path"
    if not exchange.status:
        return "recorded without an answer"
    length = header(request_of(exchange), "content-length")
    if exchange.truncated and length.isdigit() and int(length) > len(exchange.request_body):
        return "its body was cut short"
    return ""


def entry_exchanges(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Those that came from users: of each trace the ones at the service that was called first."""
    by_trace: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        by_trace[exchange.trace_id or f"none {exchange.id}"].append(exchange)
    entries = {trace: min(members, key=lambda each: each.started_at).service for trace, members in by_trace.items()}
    return [each for each in exchanges if each.service == entries[each.trace_id or f"none {each.id}"]]


def marked(step: TemplateStep) -> Message:
    """The request with `#{…}` in its variable places, to be shown."""
    labels = {blank.place: _label(blank) for blank in step.blanks}
    filled = rewrite(request_of(step.exchange), labels.get)
    return replace(filled, path=unquote(filled.path))


def _label(blank: Variable) -> str:
    match blank.kind:
        case "chained":
            return f"#{{{blank.step + 1}: {blank.source}}}"
        case "value":
            return f"#{{${blank.source}}}"
        case _:
            return f"#{{{blank.kind}}}"

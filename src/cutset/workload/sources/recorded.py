"""Requests under test out of recorded flows: of `cutset record`, or of a HAR file.

Each request class is tested once, with those requests of its flow before it that it needs: what gives it a value, and
what changes something, such as a cart. They are sent again as `cutset replay` does, with fresh ids, present times and
tokens from the answers of this very replay; the faults are for the last one alone. Pages' pictures, styles and scripts,
and what was not answered well when it was recorded, are left out.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from cutset.errors import InputError, TargetError
from cutset.model.exchange import Exchange
from cutset.model.request import Errand, Request, Response, WorkloadStep
from cutset.workload.recording.folder import read_recording
from cutset.workload.recording.har import read_har
from cutset.workload.replay import send_flow
from cutset.workload.send import open_client
from cutset.workload.sources.proposal import ProposedRequest
from cutset.workload.templates.rules import rules_for
from cutset.workload.templates.template import Template, entry_exchanges, templates_of
from cutset.workload.values.fields import fields, header, request_of, response_of

SETUP_SECONDS = 10.0  # for each request that comes before
_STATIC_TYPE = re.compile(r"(image|font|audio|video)/|text/css|\w+/(x-)?javascript|application/wasm")
_STATIC_PATH = re.compile(r"\.(js|mjs|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|otf|eot|mp4|webm|wasm)$", re.I)
# `query Cart($id: ID!) {`, or without a name the first field: `{ cart`.
_OPERATION = re.compile(r"\s*(?:query|mutation)?\s*(\w+)?[^{]*\{\s*(\w+)")
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_SENT = ("header/", "cookie/", "body/", "form/", "query/")


def recording_requests(folder: Path) -> tuple[ProposedRequest, ...]:
    found = read_recording(folder)
    return _proposed(entry_exchanges(found.exchanges), f"the recording `{folder}`", folder)


def har_requests(path: Path) -> tuple[ProposedRequest, ...]:
    found = read_har(path)
    left_out = f"; left out: {', '.join(sorted(found.elsewhere))}" if found.elsewhere else ""
    return _proposed(found.exchanges, f"the HAR file `{path}` (host {found.host or 'unknown'}{left_out})", path.parent)


def _proposed(exchanges: Iterable[Exchange], source: str, folder: Path) -> tuple[ProposedRequest, ...]:
    templates = templates_of([each for each in exchanges if not is_static(each)], rules_for(folder))
    flows: dict[str, Template] = {}
    for template in templates:
        for index, step in enumerate(template.steps):
            if 200 <= step.exchange.status < 400 and step.exchange.method != "OPTIONS":
                flow, name = flow_to(template, index), f"{step.name}{operation_of(step.exchange)}"
                if name not in flows or len(flow.steps) < len(flows[name].steps):
                    flows[name] = flow
    if not flows:
        raise InputError(
            f"There is no request to test in {source}",
            hint="`cutset record show` says what is in a recording, and why it cannot be sent again",
        )
    return tuple(ProposedRequest(_request(name, flow), _about(flow), _doubt(flow)) for name, flow in flows.items())


def is_static(exchange: Exchange) -> bool:
    """What is served from a disk: no failure of another service matters to it."""
    content_type = header(response_of(exchange), "content-type").lower()
    return bool(_STATIC_TYPE.match(content_type) or _STATIC_PATH.search(urlsplit(exchange.path).path))


def operation_of(exchange: Exchange) -> str:
    """Of GraphQL, whose requests all have one path; empty for others."""
    if exchange.method != "POST" or b'"query"' not in exchange.request_body:
        return ""
    try:
        found = json.loads(exchange.request_body)
    except ValueError:
        return ""
    query = found.get("query") if isinstance(found, dict) else None
    named = _OPERATION.match(query) if isinstance(query, str) else None
    given = found.get("operationName") if named else None
    return f" {given if isinstance(given, str) and given else named[1] or named[2]}" if named else ""


def flow_to(template: Template, index: int) -> Template:
    """What must come before the step, and the step."""
    needed = {index}
    for number in range(index - 1, -1, -1):
        gives = any(blank.step == number for later in needed for blank in template.steps[later].blanks)
        wants = {
            blank.place.removeprefix("cookie/")
            for later in needed
            for blank in template.steps[later].blanks
            if blank.kind == "cookie"
        }
        exchange = template.steps[number].exchange
        if gives or exchange.method not in _READING or wants & _cookies_set(exchange):
            needed.add(number)
    kept = sorted(needed)
    places = {old: new for new, old in enumerate(kept)}
    steps = tuple(
        replace(
            template.steps[old],
            blanks=tuple(replace(each, step=places.get(each.step, each.step)) for each in template.steps[old].blanks),
        )
        for old in kept
    )
    return replace(template, steps=steps)


def _cookies_set(exchange: Exchange) -> set[str]:
    set_cookies = (value for name, value in exchange.response_headers if name.lower() == "set-cookie")
    return {value.partition("=")[0].strip() for value in set_cookies}


def _request(name: str, flow: Template) -> Request:
    texts = {
        value
        for step in flow.steps
        for place, value in fields(request_of(step.exchange)).items()
        if place.startswith(_SENT)
    }
    made_of = repr([(step.exchange.id, step.blanks) for step in flow.steps])  # rules may change what is filled in
    version = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    patience = SETUP_SECONDS * (len(flow.steps) - 1)
    return Request(name, WorkloadStep(name, partial(run_flow, flow), version, tuple(sorted(texts)), patience=patience))


def _about(flow: Template) -> str:
    before = [step.name for step in flow.steps[:-1]]
    return f"after {', '.join(before)}" if before else ""


def _doubt(flow: Template) -> str:
    """A masked cookie is left out, and set by an answer or not at all."""
    secret = ((step.name, each.place) for step in flow.steps for each in step.constants if each.kind == "secret")
    masked = [f"{place} of {name}" for name, place in secret if not place.startswith("cookie/")]
    return f"masked, so give it in variables.yaml: {', '.join(masked)}" if masked else ""


async def run_flow(flow: Template, errand: Errand) -> Response:
    last = len(flow.steps) - 1
    async with open_client(1) as client:
        sent = await send_flow(
            client,
            flow,
            base_url=errand.url,
            headers=lambda index: errand.headers if index == last else errand.unfaulted(),
            values=os.environ,
            timeout=errand.seconds,
        )
    for number, each in enumerate(sent):
        is_unsent = each.response.error == "not sent"
        if each.failure and (number < last or is_unsent):
            raise TargetError(
                f"Request {number + 1} of {last + 1} of the recorded flow to `{flow.steps[-1].name}`, `{each.name}`, "
                f"{each.failure}; the experiment is void",
                hint="`cutset replay` shows whether it can be sent again; `variables.yaml` may give what it needs",
            )
    return replace(sent[-1].response, headers=sent[-1].headers, exchanges=1)

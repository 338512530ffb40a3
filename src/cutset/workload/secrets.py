"""What a request carries is taken out of what comes back, before anybody quotes it.

Servers repeat what they were sent, above all when they fail: the token in a message, the address in a link. Reports and
ledgers quote answers, and go where the request's secrets must not. All that is longer than a word or two counts as one;
what is left of an answer is the same in every experiment, so that judging it is not affected.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from cutset.model.request import FunctionStep, Request, Response, Step, WorkloadStep
from cutset.workload.filling import variables_in

SHORTEST = 8  # characters: shorter ones are words that any answer may have
TAKEN_OUT = "…"
_HARMLESS = re.compile("accept|accept-(encoding|language)|cache-control|content-type|host|user-agent", re.IGNORECASE)
_PARTS = re.compile(r"[\s;,=&\"']+")


def without_secrets(response: Response, request: Request, base_url: str = "", values: Iterable[str] = ()) -> Response:
    """Of the request's headers, cookies, bodies and queries, of the user in its address, and of a session's values."""
    body, error, headers = response.body, response.error, response.headers
    for secret in (*(each for each in values if len(each) >= SHORTEST), *_spellings(request, base_url)):
        body = body.replace(secret.encode(), _instead(secret).encode())
        error = error.replace(secret, TAKEN_OUT)
        headers = tuple((name, value.replace(secret, _instead(secret))) for name, value in headers)
    return replace(response, body=body, error=error, headers=headers)


def path_alone(path: str) -> str:
    """Of a step, for messages: queries hold tokens."""
    bare, asked, _ = path.partition("?")
    return f"{bare}?{TAKEN_OUT}" if asked else bare


@lru_cache(maxsize=256)
def _spellings(request: Request, base_url: str) -> tuple[str, ...]:
    """The longest first: one may be part of another."""
    user = urlsplit(base_url)
    found = {each for each in (user.password or "", user.username or "") if len(each) >= SHORTEST}
    for step in (*request.setup, request.step):
        texts = [part for text in _texts(step) for part in (text, *variables_in(text))]
        found |= {each for text in texts for each in (text, *_PARTS.split(text)) if len(each) >= SHORTEST}
    # What an answer is expected to have is no secret; and what {session} stands for is another each time.
    shown = ["{session}", *request.expect.text, *leaves(request.expect.json), *leaves(request.expect.header)]
    found = {each for each in found if not any(each in text or text in each for text in shown)}
    written = {text for each in found for text in _as_written(each)}
    return tuple(sorted(written, key=lambda text: (-len(text), text)))


def _texts(step: Step | FunctionStep | WorkloadStep) -> Iterator[str]:
    if not isinstance(step, Step):
        yield from step.texts if isinstance(step, WorkloadStep) else ()  # nobody knows what a function sends
        return
    yield from (value for name, value in step.headers.items() if not _HARMLESS.fullmatch(name))
    yield from (value for _, value in parse_qsl(step.path.partition("?")[2]))
    yield from (step.form or {}).values()
    yield from leaves(step.json)
    yield step.body or ""


def leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for child in value.values():
                yield from leaves(child)
        case list() | tuple():
            for child in value:
                yield from leaves(child)


def _as_written(text: str) -> set[str]:
    in_json = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return {text, quote(text), quote(text, safe=""), quote_plus(text), html.escape(text)} | in_json


def _instead(secret: str) -> str:
    """A number stays one: an answer in JSON must stay JSON."""
    return "9" * len(secret) if secret.isdecimal() else TAKEN_OUT

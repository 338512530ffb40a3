"""What happens, as it happens: parts of a page that are sent again when they changed, as server-sent events.

Whoever runs the campaign, this process or another, writes to the ledger; here it is read again every moment. What many
watch is computed once, and not more often than the work that it takes allows.
"""

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import htpy as h
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from cutset.model.wording import visible

LOOK_SECONDS = 0.2  # between looks at what changed
LEAST_SECONDS = 0.25  # between computations of the same
REST = 4  # so many times as long as a computation took, nothing is computed again
MOST_SECONDS = 2.0  # but no longer than that: what is looked at for the first time is read first, which takes long once
HEARTBEAT_SECONDS = 10.0  # of silence, after which a comment says that we are there
MOST_STREAMS = 64
MOST_KEPT = 32

Computed = TypeVar("Computed")


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page as it is now."""

    parts: Mapping[str, str]  # HTML by the id of the element that holds it
    status: str = ""  # in one line, for who listens
    ended: bool = False  # nothing will change any more

    @property
    def scripts(self) -> tuple[str, ...]:
        return () if self.ended else ("live.js",)

    @property
    def version(self) -> str:
        text = json.dumps([*self.parts.items()])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def live_parts(now: PageLook, address: str) -> h.Element:
    """The parts, where `live.js` finds them; `address` is that of the stream."""
    attributes = {} if now.ended else {"data-live": address, "data-version": now.version}
    return h.div(attributes)[
        h.p("#live-status.small.muted", role="status")["Live" if not now.ended else ""],
        (h.section(id=name)[Markup(part)] for name, part in now.parts.items()),  # noqa: S704 -- rendered by us
    ]


class LivePace:
    """What was computed last, and when it may be computed again."""

    def __init__(self) -> None:
        self.streams = 0  # that are open
        self._kept: OrderedDict[Hashable, tuple[int, float, Any]] = OrderedDict()

    def computed(
        self, what: Hashable, position: int, compute: Callable[[], Computed], *, hurried: bool = False
    ) -> Computed:
        """For this position in the ledger; or a little behind it, unless there is a hurry."""
        began = time.monotonic()
        known = self._kept.get(what)
        if known is None or (known[0] != position and (hurried or began >= known[1])):
            result = compute()
            ended = time.monotonic()
            known = (position, ended + min(max(LEAST_SECONDS, REST * (ended - began)), MOST_SECONDS), result)
            self._kept[what] = known
        self._kept.move_to_end(what)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        kept: Computed = known[2]
        return kept


def stream(request: Request, pace: LivePace, look: Callable[[], PageLook]) -> Response:
    """To whoever has seen the version that the request names, or the one that its browser saw last, or none."""
    if pace.streams >= MOST_STREAMS:
        return PlainTextResponse("Too many are watching: close another page", 503)
    seen = request.headers.get("last-event-id") or request.query_params.get("seen", "")
    return StreamingResponse(
        _changes(request, pace, look, seen), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


async def _changes(request: Request, pace: LivePace, look: Callable[[], PageLook], seen: str) -> AsyncIterator[str]:
    sent: Mapping[str, str] | None = None
    spoke = time.monotonic()
    pace.streams += 1
    try:
        while not await request.is_disconnected():
            now = look()
            if sent is None:
                sent = now.parts if now.version == seen else {}
                yield ": here\n\n"
            changed = {name: part for name, part in now.parts.items() if sent.get(name) != part}
            if changed:
                told = {name: visible(part) for name, part in changed.items()}  # as `frame.page` does
                yield f"id: {now.version}\ndata: {json.dumps({'parts': told, 'status': visible(now.status)})}\n\n"
                sent, spoke = now.parts, time.monotonic()
            if now.ended:
                yield f"event: end\ndata: {json.dumps({'status': now.status})}\n\n"
                return
            if time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                yield ": still here\n\n"
                spoke = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        pace.streams -= 1

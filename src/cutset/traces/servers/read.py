"""Reads the traces of a time range from a trace server, however many there are: window by window, oldest first.

Trace servers have no pages, only a limit to what one answer holds. So the range is read in windows: one whose answer is
full is halved, and the next ones are as wide as the traffic allows. After each window comes a cursor from which a later
reading can go on; a trace whose spans lie in several windows may come more than once.
"""

import math
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

from cutset.model.span import Span
from cutset.traces.servers.address import server_of
from cutset.traces.servers.client import AT_ONCE, AnswerLimits, Client, ServerAnswer, TooMuchError, at_once, open_client
from cutset.traces.tally import ReadTally

SECOND_NS = 1_000_000_000
FIRST_WINDOW_NS = 60 * SECOND_NS
WIDEST_WINDOW_NS = 24 * 3600 * SECOND_NS
SLOW_SECONDS = 5.0  # for an answer: a wider window would take longer, up to where the server gives up
LATE_NS = 60 * SECOND_NS  # spans reach a server some time after they started; so much is read again by the next reading
DESIRED_FILL = 0.7  # of an answer: a full one has to be asked for again, in halves
FETCHED_TOGETHER = 64  # traces by their ids


@dataclass(frozen=True, slots=True)
class ServerQuery:
    url: str
    since_ns: int
    until_ns: int
    service: str = ""
    limit: int = 0  # traces; 0 for all


_Part = tuple[str, int, int]  # a service, and from when until when


@dataclass(slots=True)
class _Window:
    since_ns: int
    until_ns: int
    read_before: set[str]  # ids of the traces of the window before: many lie in both
    found: set[str] = field(default_factory=set)
    # By service, how many answers its traces would just fill.
    loads: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    answers: int = 0
    seconds: float = 0.0  # that they took

    def new(self, trace_ids: Iterable[str]) -> set[str]:
        """Those that were not read yet, and are from now on."""
        unknown = set(trace_ids) - self.found
        self.found |= unknown
        return unknown - self.read_before


async def read_server(
    query: ServerQuery,
    tally: ReadTally,
    done_until_ns: int = 0,
    limits: AnswerLimits = AnswerLimits(),  # noqa: B008 - it is frozen
) -> AsyncGenerator[tuple[list[Span], int], None]:
    """Batches of spans, each with the cursor that holds once it is stored: what started before it has been read."""
    server, base = server_of(query.url)
    since_ns, width = max(query.since_ns, done_until_ns - LATE_NS), FIRST_WINDOW_NS
    left = query.limit
    async with open_client(server, base, limits) as client:
        services = await server.services(client, query.service)
        expected, found = dict.fromkeys(services, 0.0), set[str]()
        while since_ns < query.until_ns and services:
            window = _Window(since_ns, min(since_ns + width, query.until_ns), found)
            async for spans in _read_window(client, window, _parts(window, expected, server.finest_ns), tally):
                trace_ids = list(dict.fromkeys(span.trace_id for span in spans))
                allowed = set(trace_ids[:left] if query.limit else trace_ids)
                batch = [span for span in spans if span.trace_id in allowed]
                tally.spans += len(batch)
                yield batch, max(since_ns, done_until_ns)
                left -= len(allowed)
                if query.limit and not left:
                    return
            since_ns, found = window.until_ns, window.found
            yield [], max(since_ns, done_until_ns)
            width = _next_width(window, width, len(services))
            growth = width / (window.until_ns - window.since_ns)
            expected = {service: window.loads[service] * growth for service in services}


def _parts(window: _Window, expected: Mapping[str, float], finest_ns: int) -> list[_Part]:
    """What to ask for: as many parts of the window as let a service's answers be rather full, but not too full."""
    width = window.until_ns - window.since_ns
    parts = []
    for service, load in expected.items():
        count = max(1, min(math.ceil(load / DESIRED_FILL), width // finest_ns))
        edges = [window.since_ns + width * index // count for index in range(count + 1)]
        parts += [(service, start_ns, end_ns) for start_ns, end_ns in pairwise(edges)]
    return parts


async def _read_window(
    client: Client, window: _Window, pending: list[_Part], tally: ReadTally
) -> AsyncIterator[list[Span]]:
    """The traces that have spans in it, in batches, without those that were read before."""
    server = client.server
    while pending:
        asked, pending = pending[:AT_ONCE], pending[AT_ONCE:]
        start = time.monotonic()
        answers = await at_once(_search(client, *part, tally) for part in asked)
        window.seconds += time.monotonic() - start
        halves = []
        for (service, since_ns, until_ns), found in zip(asked, answers, strict=True):
            window.answers += 1
            if found.fill >= 1 and until_ns - since_ns > server.finest_ns:
                middle_ns = (since_ns + until_ns) // 2
                halves += [(service, since_ns, middle_ns), (service, middle_ns, until_ns)]
            else:
                window.loads[service] += found.fill
                if found.fill >= 1:
                    where = f"{server.name}, {service or 'all services'}, {datetime.fromtimestamp(since_ns / 1e9, UTC)}"
                    tally.skip("window in which the server has more traces than it returns", where)
            if new := window.new(span.trace_id for span in found.spans):
                yield [span for span in found.spans if span.trace_id in new]
            for trace_ids in _chunks(sorted(window.new(found.trace_ids))):
                yield await server.fetch(client, trace_ids, tally)
        pending = halves + pending  # first, so that a server which always fails is soon asked for as little as can be


async def _search(client: Client, service: str, since_ns: int, until_ns: int, tally: ReadTally) -> ServerAnswer:
    try:
        return await client.server.search(client, service, since_ns, until_ns, tally)
    except TooMuchError:
        if until_ns - since_ns <= client.server.finest_ns:
            raise
        return ServerAnswer(fill=1.0)


def _next_width(window: _Window, width: int, services: int) -> int:
    """Wider while answers would be at most half full and come fast; narrower if it took too many.

    With many services a few busy ones may be asked for in parts all the same: the others are asked less often for that.
    """
    slow = window.seconds > SLOW_SECONDS * window.answers
    if window.answers > 2 * services:
        return max(width // 2, SECOND_NS)
    if sum(window.loads.values()) < services / 2 and not slow:
        return min(width * 2, WIDEST_WINDOW_NS)
    return width


def _chunks(trace_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (trace_ids[start : start + FETCHED_TOGETHER] for start in range(0, len(trace_ids), FETCHED_TOGETHER))

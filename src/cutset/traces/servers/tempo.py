"""Grafana Tempo's HTTP API: a TraceQL search finds the ids of traces, which are then fetched one by one."""

import json
import re
from collections.abc import Sequence
from io import BytesIO

from cutset.model.span import Span
from cutset.traces.files import otlp as otlp_file
from cutset.traces.servers.client import (
    JSON,
    PROTOBUF,
    Client,
    Server,
    ServerAnswer,
    TooMuchError,
    at_once,
    get,
    get_list,
)
from cutset.traces.tally import ReadTally

SECOND_NS = 1_000_000_000  # the unit of Tempo's windows
PAGE = 500  # traces that one search finds …
PAGE_OF_A_SECOND = 20_000  # … and in a window that cannot be halved; Tempo's own bound is 262,144

_TRACE_ID = re.compile("[0-9a-fA-F]{1,32}")


async def _services(_: Client, only: str) -> Sequence[str]:
    return [only]  # "": one search finds the traces of all


async def _search(client: Client, service: str, since_ns: int, until_ns: int, tally: ReadTally) -> ServerAnswer:
    start, end = since_ns // SECOND_NS, -(-until_ns // SECOND_NS)
    page = PAGE if until_ns - since_ns > SECOND_NS else PAGE_OF_A_SECOND
    only = f"{{ resource.service.name = {json.dumps(service, ensure_ascii=False)} }}" if service else "{}"
    parameters: dict[str, str | int] = {"q": only, "start": start, "end": end, "limit": page, "spss": 1}
    found = [
        trace.get("traceID") if isinstance(trace, dict) else None
        for trace in await get_list(client, "/api/search", parameters, key="traces")
    ]
    trace_ids = [text.lower().zfill(32) for text in found if isinstance(text, str) and _TRACE_ID.fullmatch(text)]
    if len(trace_ids) < len(found):
        tally.skip("trace with a malformed id", f"{client.base}, {only}, {start}", len(found) - len(trace_ids))
    full = len(found) >= page and page == PAGE
    # Of a full page, which will be asked for in halves, no trace is fetched yet: the halves find the same ones again.
    return ServerAnswer(trace_ids=() if full else tuple(trace_ids), fill=len(found) / page)


async def _fetch(client: Client, trace_ids: Sequence[str], tally: ReadTally) -> list[Span]:
    traces = await at_once(_fetch_one(client, trace_id, tally) for trace_id in trace_ids)
    return [span for trace in traces for span in trace]


async def _fetch_one(client: Client, trace_id: str, tally: ReadTally) -> list[Span]:
    try:
        answer = await get(client, f"/api/traces/{trace_id}", accept=PROTOBUF, tolerated={404})
        if answer.status == 404:  # so say servers that have only the second version of their API
            answer = await get(client, f"/api/v2/traces/{trace_id}", accept=JSON, tolerated={404})
    except TooMuchError as error:
        tally.skip("trace that the server could not give", error.message)
        return []
    if answer.status == 404:
        tally.skip("trace that was found, but is gone", str(answer.url))
        return []
    read = otlp_file.read_protobuf if answer.media_type == PROTOBUF else otlp_file.read_json
    return list(read(BytesIO(answer.body), tally))


TEMPO = Server(
    name="Tempo",
    hint="Give the address of Tempo's query front end, usually port 3200, with its path prefix if it has one",
    tenant_header="X-Scope-OrgID",
    finest_ns=SECOND_NS,
    services=_services,
    search=_search,
    fetch=_fetch,
)

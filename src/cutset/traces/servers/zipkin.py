"""Zipkin's HTTP API, version 2: the traces in a window of time, of one service or of all."""

import re
from collections.abc import Sequence
from io import BytesIO

from cutset.traces.files import zipkin
from cutset.traces.servers.client import Client, Server, ServerAnswer, check_service, fetch_nothing, fill, get, get_list
from cutset.traces.tally import ReadTally

PAGE = 200  # traces in an answer

_TRACE_ID = re.compile(rb'"traceId"\s*:\s*"([^"]*)"')


async def _services(client: Client, only: str) -> Sequence[str]:
    services = await get_list(client, "/api/v2/services")  # also to see that it is a Zipkin
    only = only.lower()  # as Zipkin keeps all of them
    if only:
        check_service(client, only, services)
    return [only]  # "": one search finds the traces of all


async def _search(client: Client, service: str, since_ns: int, until_ns: int, tally: ReadTally) -> ServerAnswer:
    end_ms = -(-until_ns // 1_000_000)
    parameters: dict[str, str | int] = {"endTs": end_ms, "lookback": end_ms - since_ns // 1_000_000, "limit": PAGE}
    if service:
        parameters["serviceName"] = service
    answer = await get(client, "/api/v2/traces", parameters)
    spans = list(zipkin.read(BytesIO(answer.body), tally))
    # Counted in the text, since there may be traces of which no span could be read.
    traces = len({match[1] for match in _TRACE_ID.finditer(answer.body)})
    return ServerAnswer(spans, fill=fill(traces, PAGE, spans, service=service, since_ns=since_ns, until_ns=until_ns))


ZIPKIN = Server(
    name="Zipkin",
    hint="Give the address of Zipkin's server, usually port 9411, without `/zipkin` and `/api`",
    tenant_header="",
    finest_ns=1_000_000,
    services=_services,
    search=_search,
    fetch=fetch_nothing,
)

"""Jaeger's query service, by the HTTP API of its own user interface: the traces of one service in a window of time."""

from collections.abc import Sequence
from io import BytesIO

from cutset.traces.files import jaeger
from cutset.traces.servers.client import Client, Server, ServerAnswer, check_service, fetch_nothing, fill, get, get_list
from cutset.traces.tally import ReadTally

PAGE = 200  # traces in an answer


async def _services(client: Client, only: str) -> Sequence[str]:
    services = [name for name in await get_list(client, "/api/services", key="data") if isinstance(name, str)]
    if only:
        check_service(client, only, services)
        return [only]
    return services


async def _search(client: Client, service: str, since_ns: int, until_ns: int, tally: ReadTally) -> ServerAnswer:
    # In microseconds, and Jaeger's windows include their end.
    parameters: dict[str, str | int] = {
        "service": service,
        "start": since_ns // 1000,
        "end": (until_ns - 1) // 1000,
        "limit": PAGE,
    }
    answer = await get(client, "/api/traces", parameters)
    spans = list(jaeger.read(BytesIO(answer.body), tally))
    traces = answer.body.count(b'"processes":')  # one in each, also in those of which no span could be read
    return ServerAnswer(spans, fill=fill(traces, PAGE, spans, service=service, since_ns=since_ns, until_ns=until_ns))


JAEGER = Server(
    name="Jaeger",
    hint="Give the address of Jaeger's query service, usually port 16686, with its base path if it has one",
    tenant_header="x-tenant",
    finest_ns=1_000_000,
    services=_services,
    search=_search,
    fetch=fetch_nothing,
)

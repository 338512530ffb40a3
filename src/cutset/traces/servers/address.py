"""The addresses of trace servers, which say of what kind they are.

jaeger+http://host:16686[/base/path]    tempo+https://host:3200    zipkin+http://host:9411
"""

import re

from yarl import URL

from cutset.errors import UsageError
from cutset.traces.servers.client import Server
from cutset.traces.servers.jaeger import JAEGER
from cutset.traces.servers.tempo import TEMPO
from cutset.traces.servers.zipkin import ZIPKIN

_SERVERS = {"jaeger": JAEGER, "tempo": TEMPO, "zipkin": ZIPKIN}
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://.*", re.IGNORECASE | re.DOTALL)


def is_server(source: str) -> bool:
    """Whether it is a server's address, also of a kind that we cannot read: `read_server` says what is wrong then."""
    return _ADDRESS.fullmatch(source) is not None


def server_of(source: str) -> tuple[Server, URL]:
    """Which kind of server it is, and where; or an error that says what is wrong with the address."""
    match = _ADDRESS.fullmatch(source)
    scheme = match["scheme"].lower() if match else ""
    kind, _, transport = scheme.partition("+")
    examples = "Write `jaeger+http://host:16686`, `tempo+https://host:3200` or `zipkin+http://host:9411`"
    if kind not in _SERVERS or transport not in {"http", "https"}:
        raise UsageError(f"`{scheme}://…` is no kind of trace server that can be read", hint=examples)
    try:
        url = URL(transport + source[len(scheme) :])
        host, _port = url.host, url.explicit_port
    except ValueError:
        host = None
    if not host:
        raise UsageError(f"What follows `{scheme}://` is not the address of a server", hint=examples)
    if url.user is not None or url.password is not None or url.query_string or url.fragment:
        raise UsageError(
            f"The address of the trace server at `{host}` holds more than a host, a port and a path",
            hint="Credentials belong into the environment: CUTSET_TRACES_TOKEN, or CUTSET_TRACES_USER and "
            "CUTSET_TRACES_PASSWORD",
        )
    return _SERVERS[kind], url

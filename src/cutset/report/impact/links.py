"""Where a trace can be looked at: in Jaeger, in Tempo, or wherever an address says."""

import re
from urllib.parse import quote

from cutset.errors import UsageError

TRACE = "{trace}"  # stands for the id in an address
_PATHS = {"jaeger+": "/trace/", "tempo+": "/api/traces/"}
_WEB = re.compile(r"https?://", re.IGNORECASE)


def trace_link(base: str, trace_id: str) -> str:
    """Empty without a base. Nothing but a web address becomes a link."""
    if not base:
        return ""
    address = base
    for server, path in _PATHS.items():
        if base.startswith(server):
            address = f"{base.removeprefix(server).rstrip('/')}{path}{TRACE}"
    if not _WEB.match(address) or TRACE not in address:
        raise UsageError(
            f"`{base}` does not say where a trace is",
            hint="Write `jaeger+http://host:16686`, `tempo+http://host:3200`, or an address with `{trace}` in it",
        )
    return address.replace(TRACE, quote(trace_id, safe=""))

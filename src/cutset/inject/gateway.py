"""What an ingress gateway of Istio gets from us, as Envoy's configuration: plans of others do not get in, ours do.

A tracer of the gateway's own reads `tracestate` before any filter, and writes what it read behind all of them. So what
mentions us is moved to a header of ours before the tracer, judged there, and moved back by the first sidecar.
"""

from cutset.inject.filters import EARLY_MUTATION, TRACESTATE_HEADER, lua_filter, noted, overwritten, skipped_unless
from cutset.inject.sources import gateway_source
from cutset.model.mesh import Json

_EMPTY_LIST = ","  # W3C allows empty members; a header cannot be removed on a condition
_LOOKED_AT = (TRACESTATE_HEADER, "tracestate", "baggage", "x-datadog-tags", "jaeger-baggage", "uberctx-cutset")
# As it is, or with escapes of letters, which nobody needs, or of escapes: seldom enough to have Lua look closer.
_LETTERS = r"(?is).*(cutset|%[4-7][0-9a-f]|%25|%u).*|2[eh]\..*"
_MAY_MENTION: Json = {"safe_regex": {"google_re2": {}, "regex": _LETTERS}}


def gateway_filters(environment: str, public_key: bytes, *, strip_all: bool = False) -> list[Json]:
    """Right before the router. Each environment has its own; they do not take each other's plans away."""
    lua = lua_filter(f"cutset.gateway.{environment}", gateway_source(environment, public_key, strip_all=strip_all))
    before = noted("cutset.gateway", "done")  # by another environment's, so that nothing is left to see in the headers
    return [skipped_unless(dict.fromkeys(_LOOKED_AT, _MAY_MENTION), lua, before)]


def gateway_options(environment: str) -> Json:
    """To be merged into the gateway's connection managers."""
    told = "'tracestate' in request.headers && request.headers['tracestate'].contains('cutset')"
    mutations = [
        overwritten(TRACESTATE_HEADER, f"%CEL({told} ? request.headers['tracestate'] : '')%"),
        overwritten("tracestate", f"%CEL({told} ? '{_EMPTY_LIST}' : '')%"),
    ]
    config = {"@type": EARLY_MUTATION, "mutations": mutations}
    return {"early_header_mutation_extensions": [{"name": f"cutset.gateway.{environment}", "typed_config": config}]}

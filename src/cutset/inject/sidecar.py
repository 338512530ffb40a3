"""What a sidecar of Istio gets from us, as Envoy's configuration: filters before the router, and options around them.

No route can switch filters on here: it would have to name the inbound cluster, which differs per port. So each has a
matcher of its own. Pure: builds dictionaries and nothing else.
"""

from collections.abc import Mapping

from cutset.inject.filters import (
    CARRIERS,
    CONTEXT_HEADER,
    EARLY_MUTATION,
    ENTRY_HEADER,
    HELPER_HEADERS,
    SPAN_HEADERS,
    TOLD,
    TRACESTATE_HEADER,
    fault_filter,
    lua_filter,
    mark_injected_replies,
    mutation_filter,
    overwritten,
    own_span_filter,
    skipped_unless,
    told_tag,
)
from cutset.inject.sources import outbound_source, sidecar_source
from cutset.model.mesh import Json

FORCE_HEADER = "x-client-trace-id"  # Envoy traces a request that has it, whatever the sampling of others


def inbound_filters(names: Mapping[str, str], environment: str, public_key: bytes, version: str = "") -> list[Json]:
    """In this order, right before the router. `names`: the services' by workload; `public_key` in DER."""
    unseen = [*HELPER_HEADERS, *SPAN_HEADERS, CONTEXT_HEADER, ENTRY_HEADER]
    filters = [
        own_span_filter(),
        lua_filter("cutset.lua", sidecar_source(names, environment, public_key, version)),
        fault_filter(),
        mutation_filter("cutset.clean", [{"remove": name} for name in unseen]),
    ]
    return [_for_plans(each) for each in filters]


def outbound_filters() -> list[Json]:
    """Right before the router of what services send."""
    return [_for_plans(lua_filter("cutset.naming", outbound_source()))]


def inbound_options() -> Json:
    """To be merged into the inbound connection manager: lists are appended to its own."""
    told = ("service", "replica", "attempt", "entry", *TOLD)
    return {
        **mark_injected_replies(),
        # The pod is told of every request that is traced, also of those that the Lua never sees.
        "tracing": {"custom_tags": [*(told_tag(name) for name in told), _environment_tag("cutset.pod", "POD_NAME")]},
        "early_header_mutation_extensions": [_early_mutation()],
    }


def _environment_tag(tag: str, variable: str) -> Json:
    return {"tag": tag, "environment": {"name": variable}}


def _for_plans(each: Json) -> Json:
    return skipped_unless({name: {"contains": text} for name, text in CARRIERS.items()}, each)


def _early_mutation() -> Json:
    """Before the tracer: it shall trace what may carry a plan. And nobody but our Lua may ask the fault filter."""
    held = " || ".join(
        f"('{name}' in request.headers && request.headers['{name}'].contains('{text}'))"
        for name, text in CARRIERS.items()
    )
    mutations = [
        overwritten("tracestate", f"%REQ({TRACESTATE_HEADER})%"),
        *({"remove": name} for name in (TRACESTATE_HEADER, *HELPER_HEADERS, *SPAN_HEADERS)),
        overwritten(FORCE_HEADER, f"%CEL(({held}) ? 'cutset' : '')%"),
    ]
    return {"name": "cutset.trace", "typed_config": {"@type": EARLY_MUTATION, "mutations": mutations}}

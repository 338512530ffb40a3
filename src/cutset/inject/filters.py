"""Parts of Envoy's configuration that the local mesh and Istio's sidecars have in common."""

from collections.abc import Mapping

from cutset.model.mesh import Json

TYPE = "type.googleapis.com/envoy."
FILTERS = TYPE + "extensions.filters."
EARLY_MUTATION = TYPE + "extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

_FAULT_HEADERS = ("abort-request", "abort-grpc-request", "delay-request", "throughput-response")
_PERCENTAGE_HEADERS = ("abort-request-percentage", "delay-request-percentage", "throughput-response-percentage")
GATE_HEADER = "x-cutset-gate"  # from the Lua to the fault filter behind it: act
HELPER_HEADERS = [GATE_HEADER, *(f"x-envoy-fault-{name}" for name in _FAULT_HEADERS + _PERCENTAGE_HEADERS)]
CONTEXT_HEADER = "x-cutset-context"  # set by the outbound side: by which header it knew the trace
ENTRY_HEADER = "x-cutset-entry"  # from the driver to the first sidecar: its own span, past tracers in between
TRACESTATE_HEADER = "x-cutset-tracestate"  # from a gateway to the first sidecar, past the gateway's tracer
SPAN_HEADERS = {"x-cutset-trace": "%TRACE_ID%", "x-cutset-span": "%SPAN_ID%"}  # to the Lua behind it
# Headers that may hold a plan, and what they contain if they do.
CARRIERS = {"tracestate": "cutset", "baggage": "cutset", "x-datadog-tags": "cutset", "uberctx-cutset": "."}
# What the filter tells of a request, as tags of its span.
TOLD = ("api", "carriers", "context", "refused", "fault", "spoilt")

# Envoy's outlier detection asks no matcher about gRPC calls: it looks at the grpc-status header itself. So an injected
# status comes to the router under another name, which the retry policy knows, and the route gives it back its own.
HIDDEN_STATUS = "x-cutset-grpc-status"
_HIDE_INJECTED_STATUS = f"""
function envoy_on_response(handle)
  local headers = handle:headers()
  local status = headers:get("grpc-status")
  if status and headers:get("x-cutset-fault") then
    headers:add("{HIDDEN_STATUS}", status)
    headers:remove("grpc-status")
  end
end
"""
SHOWN_STATUS: Json = {
    "header": {"key": "grpc-status", "value": f"%RESP({HIDDEN_STATUS})%"},
    "append_action": "ADD_IF_ABSENT",
}
RETRIED_STATUS: Json = {"name": HIDDEN_STATUS, "string_match": {"exact": "14"}}


def lua_filter(name: str, source: str) -> Json:
    """Never named `cutset`: the fault filter empties the metadata of its own name, and ours is called that."""
    return {
        "name": name,
        "typed_config": {"@type": FILTERS + "http.lua.v3.Lua", "default_source_code": {"inline_string": source}},
    }


def fault_filter() -> Json:
    """Envoy's own, for requests of which the Lua before it says so."""
    return {
        "name": "cutset.fault",
        "typed_config": {
            "@type": FILTERS + "http.fault.v3.HTTPFault",
            "headers": [{"name": GATE_HEADER, "string_match": {"exact": "1"}}],
            "abort": {"header_abort": {}, "percentage": {"numerator": 100}},
            "delay": {"header_delay": {}, "percentage": {"numerator": 100}},
        },
    }


def own_span_filter() -> Json:
    """Tells the Lua behind it which span the mesh has begun: Lua itself cannot ask."""
    return mutation_filter("cutset.span", [overwritten(name, value) for name, value in SPAN_HEADERS.items()])


def mutation_filter(name: str, mutations: list[Json]) -> Json:
    config: Json = {
        "@type": FILTERS + "http.header_mutation.v3.HeaderMutation",
        "mutations": {"request_mutations": mutations},
    }
    return {"name": name, "typed_config": config}


def overwritten(header: str, value: str) -> Json:
    """Nothing happens where the value is empty."""
    return {"append": {"header": {"key": header, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}}


def skipped_unless(headers: Mapping[str, Json], each: Json, *others: Json) -> Json:
    """The filter, for requests alone that match: that costs the others a third of what Lua costs that only looks."""
    found = [*(_matches(name, value) for name, value in headers.items()), *others]
    skip = {"name": "skip", "typed_config": {"@type": FILTERS + "common.matcher.action.v3.SkipFilter"}}
    rule = {"predicate": {"not_matcher": {"or_matcher": {"predicate": found}}}, "on_match": {"action": skip}}
    config = {
        "@type": TYPE + "extensions.common.matching.v3.ExtensionWithMatcher",
        "extension_config": each,
        "xds_matcher": {"matcher_list": {"matchers": [rule]}},
    }
    return {"name": each["name"], "typed_config": config}


def noted(name: str, key: str) -> Json:
    """A predicate: whether a filter before has put this down in metadata of that name, as true."""
    source = {
        "@type": TYPE + "extensions.matching.common_inputs.network.v3.DynamicMetadataInput",
        "filter": name,
        "path": [{"key": key}],
    }
    matcher = {
        "@type": TYPE + "extensions.matching.input_matchers.metadata.v3.Metadata",
        "value": {"bool_match": True},
    }
    return {
        "single_predicate": {
            "input": {"name": name, "typed_config": source},
            "custom_match": {"name": key, "typed_config": matcher},
        }
    }


def _matches(header: str, value: Json) -> Json:
    source = {"@type": TYPE + "type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": header}
    return {"single_predicate": {"input": {"name": header, "typed_config": source}, "value_match": value}}


def mark_injected_replies() -> Json:
    """Only replies with Envoy's own flag for an injected fault: a percentage that missed leaves no mark.

    Where the plan has a body for the reply, the Lua has put it down by its type.
    """
    header = {"header": {"key": "x-cutset-fault", "value": "%DYNAMIC_METADATA(cutset:fault)%"}}
    injected: Json = {"response_flag_filter": {"flags": ["FI"]}}
    mappers: list[Json] = [
        {
            "filter": {"and_filter": {"filters": [injected, _has_metadata(name)]}},
            "headers_to_add": [header],
            "body_format_override": {
                "text_format_source": {"inline_string": f"%DYNAMIC_METADATA(cutset:{name})%"},
                "content_type": content_type,
            },
        }
        for name, content_type in (("json", "application/json"), ("text", "text/plain"))
    ]
    mappers.append({"filter": injected, "headers_to_add": [header]})
    return {"local_reply_config": {"mappers": mappers}}


def _has_metadata(name: str) -> Json:
    matcher = {"filter": "cutset", "path": [{"key": name}], "value": {"present_match": True}}
    return {"metadata_filter": {"matcher": matcher, "match_if_key_not_found": False}}


def told_tag(name: str) -> Json:
    """What the Lua has put down, as a tag; there is none where it has not."""
    metadata = {"kind": {"request": {}}, "metadata_key": {"key": "cutset", "path": [{"key": name}]}}
    return {"tag": f"cutset.{name}", "metadata": metadata}


def blind_to_injected_failures(protocol: str) -> Json:
    """Options of a cluster: injected failures must not eject a replica that other users need; real ones still do.

    On gRPC its routes need `SHOWN_STATUS`, `RETRIED_STATUS` and the removal of `HIDDEN_STATUS` besides.
    """
    if protocol == "grpc":
        codec = {"@type": FILTERS + "http.upstream_codec.v3.UpstreamCodec"}
        hide = lua_filter("cutset.hide", _HIDE_INJECTED_STATUS)
        return {"http_filters": [hide, {"name": "envoy.filters.http.upstream_codec", "typed_config": codec}]}
    failed = {"name": ":status", "string_match": {"safe_regex": {"regex": "5.."}}}
    injected = {"name": "x-cutset-fault", "present_match": True}
    rules = [
        {"http_response_headers_match": {"headers": [failed]}},
        {"not_match": {"http_response_headers_match": {"headers": [injected]}}},
    ]
    return {"outlier_detection": {"error_matcher": {"and_match": {"rules": rules}}}}

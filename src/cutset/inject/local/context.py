"""How the mesh takes part in traces whose context is in headers of Jaeger, B3 or Datadog (see `context.lua`)."""

from importlib.resources import files

from cutset.model.mesh import Json

# That name a trace, besides `traceparent`.
FOREIGN = ("uber-trace-id", "b3", "x-b3-traceid", "x-datadog-trace-id")
CONTEXT_HEADER = "x-cutset-context"  # set by the outbound listener: by which header it knew the trace
NAMING, JOINING, SPAN = "cutset.naming", "cutset.joining", "cutset.span"
# What requests have whose trace is named by a foreign header alone.
NAMED_OTHERWISE: list[list[Json]] = [
    [{"name": name, "present_match": True}, {"name": "traceparent", "present_match": True, "invert_match": True}]
    for name in FOREIGN
]
_MUTATION = "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation"


def context_source(*, inbound: bool) -> str:
    text = files("cutset.inject").joinpath("context.lua").read_text(encoding="utf-8")
    return f"local INBOUND = {str(inbound).lower()}\n{text}"


def own_span_filter() -> Json:
    """Tells the Lua behind it which span the mesh has begun: Lua itself cannot ask."""
    ids = {"x-cutset-trace": "%TRACE_ID%", "x-cutset-span": "%SPAN_ID%"}
    mutations = [
        {"append": {"header": {"key": key, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}}
        for key, value in ids.items()
    ]
    return {"name": SPAN, "typed_config": {"@type": _MUTATION, "mutations": {"request_mutations": mutations}}}

"""Which requests name their trace in headers of Jaeger, B3 or Datadog alone: for them `context.lua` is switched on."""

from cutset.model.mesh import Json

# That name a trace, besides `traceparent`.
FOREIGN = ("uber-trace-id", "b3", "x-b3-traceid", "x-datadog-trace-id")
NAMING, JOINING = "cutset.naming", "cutset.joining"
# What requests have whose trace is named by a foreign header alone.
NAMED_OTHERWISE: list[list[Json]] = [
    [{"name": name, "present_match": True}, {"name": "traceparent", "present_match": True, "invert_match": True}]
    for name in FOREIGN
]

"""What the edge of a mesh does to requests from outside: no plan gets in. WIRE.md, "Edges", has the rule.

Names of headers are judged before anything, a tracer included, can remember and restore them; their members by Lua.
"""

from cutset.inject.filters import EARLY_MUTATION
from cutset.model.mesh import Json

# Servers that speak CGI cannot tell `_` from `-`, and some readers unescape names.
_DROPPED: tuple[Json, ...] = (
    {"contains": "cutset", "ignore_case": True},
    {"contains": "%"},
    {"prefix": "x-envoy-"},
    {"safe_regex": {"regex": "tracestate|jaeger[-_]baggage|x_datadog[-_]tags|x-datadog_tags"}},
)


def early_removal() -> Json:
    return {
        "name": "cutset.edge",
        "typed_config": {
            "@type": EARLY_MUTATION,
            "mutations": [{"remove_on_match": {"key_matcher": matcher}} for matcher in _DROPPED],
        },
    }

"""Traces of a page that asks a cache and, if that fails, a service: as an OTLP/JSON exporter writes them."""

import json


def otlp_line(trace: int, *, cache_fails: bool = False, path: str = "/cart") -> str:
    """A page of `web`, which asks a cache and, if that fails, the service `cart`."""
    trace_id, start = f"{trace:032x}", 1_700_000_000_000_000_000 + trace * 1_000_000

    def span(number: int, parent: int, kind: int, **attributes: str) -> dict[str, object]:
        error = cache_fails and number == 2
        return {
            "traceId": trace_id,
            "spanId": f"{number:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "",
            "name": "any",
            "kind": kind,
            "startTimeUnixNano": str(start + number),
            "endTimeUnixNano": str(start + 5_000_000),
            "status": {"code": 2 if error else 0},
            "attributes": [
                {"key": key.replace("_", "."), "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }

    web = [span(1, 0, 2, http_method="GET", url_path=path), span(2, 1, 3, db_system="redis", db_operation="GET")]
    cart = []
    if cache_fails:
        web.append(span(3, 1, 3, rpc_system="grpc", rpc_service="shop.Cart", rpc_method="GetCart"))
        cart.append(span(4, 3, 2, rpc_system="grpc", rpc_service="shop.Cart", rpc_method="GetCart"))
    by_service = {"web": web, "cart": cart}
    resources = [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
            "scopeSpans": [{"spans": spans}],
        }
        for service, spans in by_service.items()
    ]
    return json.dumps({"resourceSpans": resources})


LINES = [otlp_line(trace, cache_fails=trace % 5 == 0) for trace in range(1, 21)]
SPANS = 16 * 2 + 4 * 4

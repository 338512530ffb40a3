"""Exchanges as if they had been recorded, and flows in which somebody orders something."""

import json
from collections.abc import Sequence

from cutset.model.exchange import Exchange

START = 1_794_810_795.0  # 2026-11-16T06:33:15Z
JSON = (("content-type", "application/json"),)


def exchange(
    at: float,
    line: str,
    body: object = None,
    answer: object = None,
    *,
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
    set_headers: Sequence[tuple[str, str]] = (),
    service: str = "shop",
    trace_id: str = "",
) -> Exchange:
    method, path = line.split(" ")
    return Exchange(
        id=f"{at} {line}",
        service=service,
        trace_id=trace_id,
        started_at=START + at,
        seconds=0.01,
        method=method,
        path=path,
        request_headers=(*(JSON if body is not None else ()), *headers),
        request_body=b"" if body is None else json.dumps(body).encode(),
        status=status,
        response_headers=(*(JSON if answer is not None else ()), *set_headers),
        response_body=b"" if answer is None else json.dumps(answer).encode(),
    )


def orders(number: int, order_id: object, product: str = "6f1e1c9e-8f0f-4b62-9c5e-000000000001") -> list[Exchange]:
    at = number * 100.0
    credentials = [("authorization", f"Bearer masked-00000000000000{number:02}")]
    return [
        exchange(at, "POST /login", {"user": "ann"}, {"token": f"masked-00000000000000{number:02}"}),
        exchange(at + 1, "GET /products", None, [{"id": "6f1e1c9e-8f0f-4b62-9c5e-000000000001"}], headers=credentials),
        exchange(at + 2, "POST /orders", {"product": product, "q": 1}, {"id": order_id, "q": 1}, headers=credentials),
        exchange(at + 3, f"GET /orders/{order_id}", None, {"id": order_id}, headers=credentials),
    ]

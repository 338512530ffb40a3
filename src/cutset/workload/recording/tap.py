"""Recording through a mesh: the configuration of Envoy's tap filter, and the files that it writes.

The filter writes one file for each request, `<service>_<number>.json`, with a `envoy.data.tap.v3.TraceWrapper` in it.
Those files hold requests as they were, secrets included: they are to be read into a recording and deleted.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cutset.model.exchange import Exchange
from cutset.model.mesh import Json

BODY_BYTES = 256 * 1024  # kept of each body; Envoy holds them in memory until the answer has passed
_TAP = "type.googleapis.com/envoy.extensions.filters.http.tap.v3.Tap"


@dataclass(frozen=True, slots=True)
class Taps:
    exchanges: tuple[Exchange, ...]
    skipped: int = 0  # files that are no whole trace: one may be half written


def tap_filter(service: str, folder: Path) -> Json:
    """For `http_filters`, before the filters that may answer themselves and before the router."""
    file_per_tap = {"path_prefix": str(folder / service)}
    output: Json = {
        "max_buffered_rx_bytes": BODY_BYTES,
        "max_buffered_tx_bytes": BODY_BYTES,
        "sinks": [{"format": "JSON_BODY_AS_BYTES", "file_per_tap": file_per_tap}],
    }
    return {
        "name": "cutset.tap",
        "typed_config": {
            "@type": _TAP,
            "common_config": {"static_config": {"match": {"any_match": True}, "output_config": output}},
            "record_headers_received_time": True,
        },
    }


def read_taps(folder: Path) -> Taps:
    exchanges, skipped = [], 0
    for path in sorted(folder.glob("*.json")):
        try:
            exchanges.append(_exchange(path, json.loads(path.read_bytes())["http_buffered_trace"]))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError):
            skipped += 1
    return Taps(tuple(sorted(exchanges, key=lambda each: each.started_at)), skipped)


def _exchange(path: Path, trace: Mapping[str, Json]) -> Exchange:
    request, response = trace["request"], trace.get("response", {})
    request_headers, response_headers = _headers(request), _headers(response)
    pseudo = dict(pair for pair in (*request_headers, *response_headers) if pair[0].startswith(":"))
    started = _moment(request)
    parent = dict(request_headers).get("traceparent", "")
    request_body, request_cut = _body(request)
    response_body, response_cut = _body(response)
    return Exchange(
        id=path.stem,
        service=path.stem.rpartition("_")[0],
        trace_id=parent.split("-")[1] if parent.count("-") == 3 else "",
        started_at=started,
        seconds=max(0.0, _moment(response) - started) if response else 0.0,  # to the answer's headers
        method=pseudo[":method"],
        path=pseudo[":path"],
        request_headers=_without_pseudo(request_headers),
        request_body=request_body,
        status=int(pseudo.get(":status", 0)),
        response_headers=_without_pseudo(response_headers),
        response_body=response_body,
        truncated=request_cut or response_cut,
    )


def _moment(message: Mapping[str, object]) -> float:
    return datetime.fromisoformat(str(message["headers_received_time"])).timestamp()


def _headers(message: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    found = message.get("headers", [])
    assert isinstance(found, list)
    return tuple((each["key"], each["value"]) for each in found)


def _without_pseudo(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in headers if not pair[0].startswith(":"))


def _body(message: Mapping[str, object]) -> tuple[bytes, bool]:
    body = message.get("body") or {}
    assert isinstance(body, dict)
    return base64.b64decode(body.get("as_bytes", "")), bool(body.get("truncated"))

import json

import pytest
from tests.samples.jaeger_payloads import BATCH, COMPACT

from cutset.traces.encodings import DATAGRAM, ENCODINGS, JAEGER, ZIPKIN
from cutset.traces.otlp import spans_from_json

SPAN = {"traceId": "a" * 32, "id": "b" * 16, "kind": "SERVER", "timestamp": 7, "tags": {"error": "no"}}


@pytest.mark.parametrize(
    ("encoding", "payload"), [(JAEGER, BATCH), (DATAGRAM, COMPACT), (ZIPKIN, json.dumps([SPAN]).encode())]
)
def test_whatever_is_received_is_recorded_as_otlp_that_says_the_same(encoding, payload):
    assert spans_from_json(encoding.line(payload).encode()) == encoding.spans(payload)


def test_each_kind_has_its_path():
    assert set(ENCODINGS) == {"/v1/traces", "/api/traces", "/api/v2/spans"}

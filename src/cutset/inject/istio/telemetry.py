"""Spans of experiments, and of nobody else, for our collector: Istio's Telemetry of an application namespace."""

from cutset.inject.istio.marks import Installation, marked
from cutset.model.cluster import Resource


def telemetry(wanted: Installation, namespace: str) -> Resource:
    """Sampling 0: what the filter forces to be traced is traced all the same. Server spans have the proof."""
    sampling = 100 if wanted.trace_all else 0
    provider = {"name": wanted.provider}
    tracing = {"match": {"mode": "SERVER"}, "providers": [provider], "randomSamplingPercentage": sampling}
    resource = {
        "apiVersion": "telemetry.istio.io/v1",
        "kind": "Telemetry",
        "metadata": {"name": wanted.name, "namespace": namespace},
        "spec": {"tracing": [tracing]},
    }
    return marked(resource, wanted.environment)

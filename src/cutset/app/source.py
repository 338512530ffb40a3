"""Where the spans of experiments come from, as `collector` in the configuration says."""

from contextlib import AbstractAsyncContextManager

from cutset.model.target import Receiver
from cutset.traces.collector import Collector, collect


def spans_of(receiver: Receiver) -> AbstractAsyncContextManager[Collector]:
    """Sent to us, or looked up in a server of the team's own."""
    if receiver.server:
        from cutset.traces.servers.polled import polled  # noqa: PLC0415 -- takes time to load, and few need it

        return polled(receiver.server)
    return collect(
        host=receiver.host,
        http_port=receiver.http_port,
        grpc_port=receiver.grpc_port,
        others=receiver.others,
        hint="Choose another with `collector.host`, `.http_port`, `.grpc_port` or those of Jaeger and Zipkin, "
        "in the configuration",
    )

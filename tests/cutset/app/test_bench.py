"""What a bench has where services run behind a local mesh; tests/istio has the other."""

import asyncio

from cutset.app.bench import open_bench
from cutset.config.explore import Config
from cutset.experiment.liveness import Liveness
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Request, Step
from cutset.model.target import Receiver, Target

FREE = Receiver(
    http_port=0, grpc_port=0, jaeger_compact_port=None, jaeger_binary_port=None, jaeger_http_port=None, zipkin_port=None
)


def test_servers_are_those_of_the_mesh_by_their_names():
    service = MeshService(name="cart", protocol="http", replicas=("127.0.0.1:1", "127.0.0.1:2"))
    config = Config(
        target=Target("http://127.0.0.1:3"),
        requests=(Request("GET /", Step("GET", "/")),),
        collector=FREE,
        mesh=MeshSpec(services=(service,)),
    )

    async def scenario():
        async with open_bench(config, b"k" * 32, None) as bench:
            assert bench.target.servers == ("127.0.0.1:3", "127.0.0.1:1", "127.0.0.1:2")
            assert bench.target.named("127.0.0.1:2") == "cart#2 at 127.0.0.1:2"
            assert isinstance(bench.servers, Liveness)
            assert bench.url == "http://127.0.0.1:3"
            assert bench.replicas is None

    asyncio.run(scenario())

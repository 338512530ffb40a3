from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CACHE_GET, CACHE_PUT
from cutset_demo.replica import Handlers, Replica
from cutset_demo.stores import redis_command


async def get(replica: Replica, request: pb.CacheGetRequest) -> pb.CacheGetResponse:
    value = await redis_command(replica.tracer, replica.stores.cache, "GET", request.key)
    return pb.CacheGetResponse(found=value is not None, value=value or b"")


async def put(replica: Replica, request: pb.CachePutRequest) -> pb.Empty:
    await redis_command(replica.tracer, replica.stores.cache, "SET", request.key, request.value)
    return pb.Empty()


HANDLERS: Handlers = {CACHE_GET: get, CACHE_PUT: put}

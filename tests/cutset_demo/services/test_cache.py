import uuid

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CACHE_GET, CACHE_PUT


def test_what_was_put_is_found_byte_for_byte_and_nothing_else_is(boutique):
    key, value = str(uuid.uuid4()), bytes(range(256))
    before = boutique.call("cache", CACHE_GET, pb.CacheGetRequest(key=key))
    boutique.call("cache", CACHE_PUT, pb.CachePutRequest(key=key, value=value))
    after = boutique.call("cache", CACHE_GET, pb.CacheGetRequest(key=key))

    assert (before.found, before.value) == (False, b"")
    assert (after.found, after.value) == (True, value)

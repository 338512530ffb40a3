import json
from importlib.resources import files

import pytest

from cutset_agent import peers

VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))["peers"]
MAKERS = {
    "store": peers.store,
    "server": peers.server,
    "channel": peers.channel,
    "destination": peers.destination,
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["peer"])
def test_peers_are_named_as_the_golden_vectors_say(vector):
    assert peers.cleaned(MAKERS[vector["kind"]](*vector["of"])) == vector["peer"]


@pytest.mark.parametrize(
    ("url", "given", "environ", "peer"),
    [
        ("postgresql://me@db:5433/shop?sslmode=off", {}, {}, "db:5433/shop"),
        ("host=db port=5433 dbname=shop user=me", {}, {}, "db:5433/shop"),
        ("postgresql://db", {"database": "shop"}, {}, "db:5432/shop"),
        ("", {"host": "db", "dbname": "shop", "user": "me"}, {"PGHOST": "other"}, "db:5432/shop"),
        ("", {"user": "me"}, {"PGHOST": "other", "PGPORT": "1"}, "other:1/me"),
        ("", {"host": ["a", "b"], "dbname": "shop"}, {}, "a:5432/shop"),
        ("", {}, {}, "localhost:5432"),
    ],
)
def test_a_database_is_found_where_libpq_looks(url, given, environ, peer):
    assert peers.database_of(url, given, environ) == peer

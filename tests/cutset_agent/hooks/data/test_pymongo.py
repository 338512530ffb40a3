"""PyMongo with a stand-in for the server: it greets, counts what is inserted, and finds it."""

import asyncio
import socketserver
import struct
import threading

import pytest

pymongo = pytest.importorskip("pymongo")
bson = pytest.importorskip("bson")

EXPECTED = {
    "connection-refused": pymongo.errors.ServerSelectionTimeoutError,
    "dns-failure": pymongo.errors.ServerSelectionTimeoutError,
    "connection-reset": pymongo.errors.AutoReconnect,
    "connection-lost": pymongo.errors.AutoReconnect,
    "timeout": pymongo.errors.NetworkTimeout,
    "no-answer": pymongo.errors.NetworkTimeout,
    "lost-answer": pymongo.errors.AutoReconnect,
    "pool-exhausted": pymongo.errors.WaitQueueTimeoutError,
    "authentication-failed": pymongo.errors.OperationFailure,
    "read-only": pymongo.errors.NotPrimaryError,
    "serialization-failure": pymongo.errors.OperationFailure,
    "disk-full": pymongo.errors.OperationFailure,
    "serialization": bson.errors.InvalidDocument,
}
GREETING = {"isWritablePrimary": True, "maxWireVersion": 25, "minWireVersion": 0, "maxBsonObjectSize": 1 << 24, "ok": 1}
LIMITS = "socketTimeoutMS=50&waitQueueTimeoutMS=70&serverMonitoringMode=poll"


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.inserted = []

    def answer(self, name, command, documents):
        if name == "insert":
            self.inserted += [*documents, *command.get("documents", [])]
            return {"ok": 1, "n": 1}
        if name == "find":
            return {"ok": 1, "cursor": {"id": 0, "ns": "shop.orders", "firstBatch": self.inserted}}
        return GREETING


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        while header := self.request.recv(16, 8 << 5):  # MSG_WAITALL
            length, number, _, code = struct.unpack("<4i", header)
            body = self.request.recv(length - 16, 8 << 5)
            if code == 2004:  # OP_QUERY, for the first greeting of all
                answer = bson.encode({**GREETING, "ismaster": True})
                reply = struct.pack("<iqii", 8, 0, 0, 1) + answer
                self.send(number, 1, reply)
                continue
            size = struct.unpack_from("<i", body, 5)[0]
            command, rest, documents = bson.decode(body[5 : 5 + size]), body[5 + size :], []
            if rest[:1] == b"\1":
                section = struct.unpack_from("<i", rest, 1)[0]
                documents = bson.decode_all(rest[5 : 1 + section].partition(b"\0")[2])
            self.send(
                number, 2013, b"\0" * 5 + bson.encode(self.server.answer(next(iter(command)), command, documents))
            )

    def send(self, number, code, payload):
        self.request.sendall(struct.pack("<4i", 16 + len(payload), 1, number, code) + payload)


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def orders(server):
    with pymongo.MongoClient(f"mongodb://127.0.0.1:{server.server_address[1]}/?{LIMITS}") as client:
        yield client.shop.orders


def test_without_a_request_nothing_changes(installed, calls, server, orders):
    orders.insert_one({"_id": 1})
    assert list(orders.find()) == [{"_id": 1}]
    assert calls() == []


def test_calls_of_a_request_are_described(installed, calls, orders):
    with installed.request():
        orders.insert_one({"_id": 1})
        assert orders.find_one() == {"_id": 1}
        orders.database.command("ping")
    found = [(call["endpoint"], call["collection"]) for call in calls()]
    assert found == [("db/pymongo/insert_one", "orders"), ("db/pymongo/find", "orders"), ("db/pymongo/command", "shop")]


def test_calls_have_their_peer(installed, calls, server, orders):
    with installed.request():
        orders.insert_one({"_id": 1})
        orders.find_one()
        orders.database.command("ping")
    assert [call["peer"] for call in calls()] == [f"127.0.0.1:{server.server_address[1]}/shop"] * 3


@pytest.mark.parametrize(("fault", "error"), EXPECTED.items())
def test_a_fault_is_the_librarys_own_exception(installed, calls, server, orders, fault, error):  # noqa: PLR0917
    with installed.request(("db/pymongo/insert_one", fault)), pytest.raises(error):
        orders.insert_one({"_id": 1})
    assert server.inserted == ([{"_id": 1}] if fault == "lost-answer" else [])
    assert calls()[0]["fault"] == fault
    orders.insert_one({"_id": 2})


@pytest.mark.parametrize(("fault", "error"), EXPECTED.items())
def test_a_fault_is_the_librarys_own_exception_with_asyncio(installed, calls, server, fault, error):
    async def work():
        async with pymongo.AsyncMongoClient(f"mongodb://127.0.0.1:{server.server_address[1]}/?{LIMITS}") as client:
            with installed.request(("db/pymongo/insert_one", fault)), pytest.raises(error):
                await client.shop.orders.insert_one({"_id": 1})
            await client.shop.orders.insert_one({"_id": 2})

    asyncio.run(work())
    assert calls()[0]["fault"] == fault
    assert len(server.inserted) == (2 if fault == "lost-answer" else 1)


def test_a_search_fails_when_its_cursor_asks(installed, calls, orders):
    with installed.request(("db/pymongo/find", "connection-reset")):
        cursor = orders.find()
        with pytest.raises(pymongo.errors.AutoReconnect):
            next(cursor)


def test_a_server_that_is_not_primary_still_reads(installed, calls, orders):
    with installed.request(("db/pymongo/find", "read-only")):
        assert list(orders.find()) == []
    assert "makes no sense" in calls()[0]["not_fired"]


def test_idle_connections_are_really_lost(installed, calls, server, orders):
    orders.insert_one({"_id": 1})
    (pool,) = [each.pool for each in orders.database.client._topology._servers.values()]
    (connection,) = pool.conns
    with installed.request(("db/pymongo/insert_one", "connection-lost")), pytest.raises(pymongo.errors.AutoReconnect):
        orders.insert_one({"_id": 2})
    assert connection.closed
    orders.insert_one({"_id": 3})
    assert server.inserted == [{"_id": 1}, {"_id": 3}]

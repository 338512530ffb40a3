"""What the hooks of PostgreSQL's clients share: the server's errors in its own words, statements, lost connections."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from cutset_agent.calls import AfterCall, MakeFault, SharedFault

LOST = (
    "consuming input failed: server closed the connection unexpectedly\n"
    "\tThis probably means the server terminated abnormally\n\tbefore or while processing the request."
)
AT_SERVER = 'connection to server at "{host}", port {port} failed: '  # what libpq says first
RESET = "could not receive data from server: Connection reset by peer"
REFUSED = "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?"


class ServerError(NamedTuple):
    """An error as PostgreSQL words it."""

    sqlstate: str
    message: str
    detail: str = ""
    hint: str = ""

    def statement(self) -> str:
        """What makes a server raise it."""
        parts = {"ERRCODE": self.sqlstate, "MESSAGE": self.message, "DETAIL": self.detail, "HINT": self.hint}
        using = ", ".join(f"{name} = '{text}'" for name, text in parts.items() if text)
        return f"DO $cutset$ BEGIN RAISE EXCEPTION USING {using}; END $cutset$"


SERVER_ERRORS = {
    "deadlock": ServerError(
        "40P01",
        "deadlock detected",
        "Process 4711 waits for ShareLock on transaction 815; blocked by process 4712.",
        "See server log for query details.",
    ),
    "serialization-failure": ServerError("40001", "could not serialize access due to concurrent update"),
    "out-of-memory": ServerError(
        "53200", "out of memory", 'Failed on request of size 8388608 in memory context "ExecutorState".'
    ),
    "disk-full": ServerError("53100", "could not extend file: No space left on device", hint="Check free disk space."),
    "timeout": ServerError("57014", "canceling statement due to statement timeout"),
}
_OF_WRITES = {"read-only", "disk-full"}
_WRITES = {"INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "TRUNCATE", "CREATE", "ALTER", "DROP"}


class LostAnswer(AfterCall):
    """Closes the connection when the call is done: an answer is lost with the connection that it would come by."""

    __slots__ = ("close", "error")

    def __init__(self, error: BaseException, close: Callable[[], object]) -> None:
        self.error = error
        self.close = close

    @property
    def exception(self) -> BaseException:  # type: ignore[override]
        self.close()
        return self.error


def shared(make: MakeFault, is_own: Callable[[Any], bool]) -> SharedFault:
    """A fault that ends the connection, or its transaction. The first argument of the call leads to it."""
    why = "a connection that is not of a pool may be that of several requests"
    return SharedFault(make, why, lambda args: is_own(args[0]))


def address_in(peer: str) -> dict[str, str]:
    """Host and port, as errors name them."""
    host, _, port = peer.rpartition("/")[0].rpartition(":")
    return {"host": host or "localhost", "port": port or "5432"}


def verb_of(query: object) -> str:
    """The first word of a statement, in capitals."""
    words = (query.decode("utf-8", "replace") if isinstance(query, bytes) else str(query)).split(None, 1)
    return words[0].rstrip(";").upper() if words else ""


def server_error(fault: str, query: object) -> ServerError | None:
    """None for a read, at a server that refuses only writes."""
    verb = verb_of(query)
    if fault in _OF_WRITES and verb not in _WRITES:
        return None
    if fault == "read-only":
        return ServerError("25006", f"cannot execute {verb} in a read-only transaction")
    return SERVER_ERRORS[fault]


def statement_payload(query: object, parameters: object) -> str:
    return json.dumps({"query": query, "parameters": parameters}, default=as_text, ensure_ascii=False)


def as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else str(value)

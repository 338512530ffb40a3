"""A library of our own, with functions of all kinds, for what hooks do to libraries."""

import asyncio
import types

from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, InjectedAnswer

ENDPOINT = "db/small/execute"


class LibraryError(Exception):
    pass


def describe(args, kwargs):
    client = args[0]
    if client.describe_fails:
        raise ZeroDivisionError
    return (
        HookedCall(ENDPOINT, client.timeout, lambda: str(args[1]), {"verb": "INSERT"}, client.peer)
        if args[1] != "boring"
        else None
    )


def broken(_call, _args, _kwargs):
    raise ZeroDivisionError


async def break_later(_call, _args, _kwargs):
    raise ZeroDivisionError


async def refuse_later(_call, _args, _kwargs):
    await asyncio.sleep(0)
    return LibraryError("later")


FAULTS = {
    "connection-refused": lambda call, args, kwargs: LibraryError("refused"),
    "timeout": lambda call, args, kwargs: LibraryError("timed out"),
    "no-answer": lambda call, args, kwargs: LibraryError("waited"),
    "lost-answer": lambda call, args, kwargs: AfterCall(LibraryError("lost")),
    "cache-miss": lambda call, args, kwargs: InjectedAnswer(None),
    "wrong-body": lambda call, args, kwargs: ChangedAnswer(lambda result: result.upper()),
    "truncated-body": lambda call, args, kwargs: ChangedAnswer(lambda result: result / 0),
    "read-only": lambda call, args, kwargs: None,
    "status-503": lambda call, args, kwargs: InjectedAnswer(503),
    "broken": broken,
}


LATER = {**FAULTS, "connection-refused": refuse_later, "broken": break_later}


def small_library():
    """As a library is: functions, methods of all kinds, coroutine functions."""

    class Client:
        timeout = None
        peer = ""
        describe_fails = False

        def __init__(self):
            self.done = []

        def execute(self, statement, *, times=1):
            """Does it."""
            self.done.append(statement)
            if statement == "fail":
                raise LibraryError("by itself")
            return statement * times

        async def execute_later(self, statement, *, times=1):
            await asyncio.sleep(0)
            return self.execute(statement, times=times)

        @staticmethod
        def of_no_one(client, statement):
            return client.execute(statement)

        @classmethod
        def of_the_class(cls, client, statement):
            return (cls.__name__, client.execute(statement))

    return types.SimpleNamespace(Client=Client)

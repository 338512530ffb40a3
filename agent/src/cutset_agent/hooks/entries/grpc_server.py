"""The entry of a gRPC server, synchronous or asyncio: each call that it serves is a request, with the plan it carries.

An interceptor is put before those of the application when a server is made.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from cutset_agent import request as requests
from cutset_agent import services
from cutset_agent.calls import MakeFault
from cutset_agent.reports import count_error
from cutset_agent.wire import normalise_api

MODULE = "grpc"
TESTED = "grpcio 1.60, 1.80, 1.85"
FAULTS: Mapping[str, MakeFault] = {}  # what a server does to its callers is the business of their hooks

# The HTTP status that stands for each gRPC status; 500 for the others.
HTTP_STATUSES = {
    0: 200, 1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 14: 503, 16: 401,
}  # fmt: skip


def install(module: Any) -> None:
    def intercept_service(self: Any, continuation: Callable[[Any], Any], details: Any) -> Any:
        return _entered_or_as_ever(module, continuation(details), details.method, self.service)

    async def intercept_service_asynchronously(self: Any, continuation: Callable[[Any], Any], details: Any) -> Any:
        return _entered_or_as_ever(module, await continuation(details), details.method, self.service)

    for owner, intercept in ((module, intercept_service), (module.aio, intercept_service_asynchronously)):
        if not hasattr(owner.server, "_cutset_hook"):
            entering = type("Entering", (owner.ServerInterceptor,), {"intercept_service": intercept})
            owner.server = _intercepted(owner.server, entering)


def _intercepted(make_server: Callable[..., Any], make_interceptor: Callable[[], Any]) -> Callable[..., Any]:
    signature = inspect.signature(make_server)

    @functools.wraps(make_server)
    def server(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        interceptor = make_interceptor()
        interceptor.service = services.present()  # its threads do not have our context
        given.arguments["interceptors"] = (interceptor, *(given.arguments.get("interceptors") or ()))
        return make_server(*given.args, **given.kwargs)

    server._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    return server


def _entered_or_as_ever(grpc: Any, handler: Any, method: bytes | str, service: str = "") -> Any:
    if handler is None:  # no such method
        return None
    try:
        return _entered(grpc, handler, method, service)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        count_error(f"entry of {method!r}", error)
        return handler


@functools.lru_cache(maxsize=1000)
def _entered(grpc: Any, handler: Any, method: bytes | str, service: str) -> Any:
    """The handler of a method, within a request."""
    name = normalise_api("POST", method.decode() if isinstance(method, bytes) else method, grpc=True)
    kind = "_".join("stream" if each else "unary" for each in (handler.request_streaming, handler.response_streaming))
    serving = _serving(getattr(handler, kind), functools.partial(_Entry, name, service), handler.response_streaming)
    make_handler = getattr(grpc, f"{kind}_rpc_method_handler")
    return make_handler(serving, handler.request_deserializer, handler.response_serializer)


def _serving(serve: Callable[..., Any], entered: Callable[[Any], _Entry], streams: bool) -> Callable[..., Any]:  # noqa: FBT001
    """The same kind of function as the handler's: gRPC tells them apart."""
    if inspect.isasyncgenfunction(serve):
        return _asynchronous_stream(serve, entered)
    if inspect.iscoroutinefunction(serve):
        return _asynchronous_unary(serve, entered)
    # A handler that is given a callback to send responses with returns no iterator of them.
    return (_stream if streams and not hasattr(serve, "experimental_non_blocking") else _unary)(serve, entered)


def _unary(serve: Callable[..., Any], entered: Callable[[Any], _Entry]) -> Callable[..., Any]:
    @functools.wraps(serve)
    def wrapper(request: Any, context: Any, *more: Any) -> Any:
        with entered(context):
            return serve(request, context, *more)

    return wrapper


def _stream(serve: Callable[..., Any], entered: Callable[[Any], _Entry]) -> Callable[..., Any]:
    @functools.wraps(serve)
    def wrapper(request: Any, context: Any) -> Iterator[Any]:
        with entered(context):
            yield from serve(request, context)

    return wrapper


def _asynchronous_unary(serve: Callable[..., Any], entered: Callable[[Any], _Entry]) -> Callable[..., Any]:
    @functools.wraps(serve)
    async def wrapper(request: Any, context: Any) -> Any:
        with entered(context):
            return await serve(request, context)

    return wrapper


def _asynchronous_stream(serve: Callable[..., Any], entered: Callable[[Any], _Entry]) -> Callable[..., Any]:
    @functools.wraps(serve)
    async def wrapper(request: Any, context: Any) -> AsyncIterator[Any]:
        with entered(context):
            async for response in serve(request, context):
                yield response

    return wrapper


class _Entry:
    """Within it, code works for the request. Its own errors are counted and nothing else."""

    def __init__(self, name: str, service: str, context: Any) -> None:
        self.name = name
        self.serving = services.Serving(service) if service else None
        self.context = context
        self.entry: requests.RequestEntry | None = None

    def __enter__(self) -> None:
        if self.serving is not None:
            self.serving.__enter__()
        try:
            metadata = self.context.invocation_metadata() or ()
            self.entry = requests.enter([each for each in metadata if isinstance(each[1], str)], self.name)
        except Exception as problem:  # noqa: BLE001 -- the host's call matters more
            count_error(f"entry of {self.name}", problem)

    def __exit__(self, _kind: Any, error: BaseException | None, _traceback: Any) -> None:
        try:
            if self.entry is not None:
                requests.leave(self.entry, _http_status(self.context, error))
        except Exception as problem:  # noqa: BLE001 -- as above
            count_error(f"end of {self.name}", problem)
        if self.serving is not None:
            self.serving.__exit__()


def _http_status(context: Any, error: BaseException | None) -> int:
    code = context.code() if hasattr(context, "code") else None  # synchronous handlers of asyncio servers have none
    number = code if isinstance(code, int) else code.value[0] if code else 0
    return 500 if error is not None and number == 0 else HTTP_STATUSES.get(number, 500)

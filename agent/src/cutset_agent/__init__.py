"""The agent inside a service under test: faults at its calls to data stores, brokers and other services.

It does nothing unless `CUTSET_AGENT=1` and `CUTSET_PUBLIC_KEY` or `CUTSET_KEY` are set, and loads nothing before.
"""

import os

TYPE_CHECKING = False  # as in `typing`, which a host whose agent is off need not load
if TYPE_CHECKING:
    from cutset_agent.services import Serving

__version__ = "0.1.0"  # that of cutset: the two are released together

_MIN_KEY_BYTES = 32  # as in `wire`, which a host whose agent is off does not load
_Application = object  # what a server calls; its type is the host's business


def install() -> bool:
    """Hooks the libraries that the process uses or will use; False if the agent is off. Once is enough."""
    if not is_on():
        return False
    from cutset_agent import hooks  # noqa: PLC0415 -- a host whose agent is off loads none of it

    hooks.install()
    return True


def is_on() -> bool:
    has_key = os.environ.get("CUTSET_PUBLIC_KEY") or len(os.environ.get("CUTSET_KEY", "").encode()) >= _MIN_KEY_BYTES
    return os.environ.get("CUTSET_AGENT") == "1" and bool(has_key)


def asgi(app: _Application, service: str = "") -> _Application:
    """The application with an entry for plans; the very same if the agent is off.

    `service` names it where a process hosts several.
    """
    if not install():
        return app
    from cutset_agent.hooks.entries.asgi import entered  # noqa: PLC0415 -- as above

    return entered(app, service)


def wsgi(app: _Application, service: str = "") -> _Application:
    """As `asgi`, for WSGI."""
    if not install():
        return app
    from cutset_agent.hooks.entries.wsgi import entered  # noqa: PLC0415 -- as above

    return entered(app, service)


def serving(service: str) -> "Serving":
    """Names the service of the servers that are made, requests that come in, and calls that are made within it.

    For a process that hosts several: `with serving("cart"): server = grpc.server(…)`, or `@serving("cart")` on a
    function or coroutine function.
    """
    from cutset_agent.services import Serving  # noqa: PLC0415 -- as above

    return Serving(service)

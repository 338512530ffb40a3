"""The agent inside a service under test: faults at its calls to data stores, brokers and other services.

It does nothing unless `CUTSET_AGENT=1` and `CUTSET_KEY` are set, and loads nothing before.
"""

import os

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
    return os.environ.get("CUTSET_AGENT") == "1" and len(os.environ.get("CUTSET_KEY", "").encode()) >= _MIN_KEY_BYTES


def asgi(app: _Application) -> _Application:
    """The application with an entry for plans; the very same if the agent is off."""
    if not install():
        return app
    from cutset_agent.hooks.entries.asgi import entered  # noqa: PLC0415 -- as above

    return entered(app)


def wsgi(app: _Application) -> _Application:
    """As `asgi`, for WSGI."""
    if not install():
        return app
    from cutset_agent.hooks.entries.wsgi import entered  # noqa: PLC0415 -- as above

    return entered(app)

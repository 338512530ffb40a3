"""One file for each hooked library: `MODULE` triggers it, `install(module)` hooks, `FAULTS` are its faults.

No hook file imports its library at the top, so that all of them can be read where none is installed. Further ones come
from the entry points of the group `cutset.faults`: modules of the same form, named after their framework; `CATALOGUE`
says of their own faults what `fault_catalogue.json` says of ours, and one without `install` adds faults to a framework
that is hooked already.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module, metadata
from types import ModuleType
from typing import Any

from cutset_agent import imports, recording, reports, request, steps, threads
from cutset_agent.catalogue import catalogue
from cutset_agent.ecdsa import public_verifier
from cutset_agent.reports import count_error
from cutset_agent.wire import WireVerifier

_FOLDERS = {
    "http": ("aiohttp", "httpx", "urllib3"),
    "rpc": ("grpc", "grpc_aio"),
    "data": ("asyncpg", "psycopg", "pymongo", "redis", "sqlalchemy"),
    "brokers": ("aiokafka", "nats", "pika"),
    "entries": ("aiohttp_web", "asgi", "grpc_server", "opentelemetry", "uvicorn", "wsgi"),
}
# The module of each hook, by its framework.
HOOKS = {name: f"{__name__}.{folder}.{name}" for folder, names in _FOLDERS.items() for name in names}
ENTRY_POINTS = "cutset.faults"


def install() -> None:
    """Reads the environment and hooks all libraries that are imported, or will be."""
    _configure(os.environ)
    threads.install()
    for framework, module in HOOKS.items():
        _install_one(framework, partial(import_module, module))
    for framework, load in third_parties():
        _install_one(framework, load)


def third_parties() -> Iterator[tuple[str, Callable[[], ModuleType]]]:
    """Framework and loader of each hook that another package brings."""
    found: Any = metadata.entry_points()
    members = found.select(group=ENTRY_POINTS) if hasattr(found, "select") else found.get(ENTRY_POINTS, ())
    for member in members:  # before Python 3.10 it is a dictionary
        yield member.name, member.load


def _configure(environ: Mapping[str, str]) -> None:
    key: bytes | WireVerifier = environ.get("CUTSET_KEY", "").encode(errors="surrogateescape")
    if public := environ.get("CUTSET_PUBLIC_KEY"):  # then the other does not count, even if nothing can be read in this
        key = public_verifier(public) or b""
    service = environ.get("CUTSET_SERVICE") or environ.get("OTEL_SERVICE_NAME") or "unknown"
    uncontained = environ.get("CUTSET_UNCONTAINED") == "1"
    request.configure(request.AgentSettings(key, environ.get("CUTSET_ENVIRONMENT") or "local", service, uncontained))
    reports.start(environ.get("CUTSET_COLLECTOR") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "")
    recording.start(environ.get("CUTSET_RECORD", ""))


def _install_one(name: str, load: Callable[[], ModuleType]) -> None:
    try:
        hook = load()
        if hasattr(hook, "CATALOGUE"):
            catalogue().update(hook.CATALOGUE)
        if not hasattr(hook, "install"):
            steps.add_faults(name, hook.FAULTS)
            return
        modules = (hook.MODULE,) if isinstance(hook.MODULE, str) else hook.MODULE
        for module in modules:
            imports.after_import(module, _guarded(name, hook.install))
    except Exception as error:  # noqa: BLE001 -- the other hooks still can
        count_error(f"hook {name}", error)


def _guarded(name: str, install_hook: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def install_or_count(module: ModuleType) -> None:
        try:
            install_hook(module)
        except Exception as error:  # noqa: BLE001 -- the host's import must succeed
            count_error(f"hook {name}", error)

    return install_or_count

"""A dashboard of a store without a network: what a browser would be shown."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from cutset.web.dashboard import Dashboard
from cutset.web.reading import Reading
from cutset.web.security import Access
from cutset.web.server import application

HOST = "127.0.0.1:8017"
ORIGIN = {"origin": f"http://{HOST}"}


@contextmanager
def opened_dashboard(store: Path, **options: Any) -> Iterator[tuple[Dashboard, TestClient]]:
    """Admitted already; what acts needs `headers=ORIGIN`."""
    with ExitStack() as stack:
        dashboard = Dashboard(Reading(store, stack), **options)
        access = Access(frozenset({HOST}), read_only=dashboard.read_only)
        app = application(dashboard, access)
        client = TestClient(app, f"http://{HOST}", raise_server_exceptions=False, cookies={access.cookie: access.token})
        # SQLite serves one thread alone: all requests, and the end of it all, are in that of the client.
        with client:
            assert client.portal
            try:
                yield dashboard, client
            finally:
                client.portal.call(stack.close)

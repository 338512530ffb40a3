"""An API server that knows what we ask of one, and nothing more. What a real one answers is in tests/istio."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cutset.kubernetes.kinds import KINDS, kind_of
from cutset.model.cluster import Resource


@dataclass
class SmallApiServer:
    url: str = ""
    stored: dict[str, Resource] = field(default_factory=dict)  # by address
    forbidden: set[str] = field(default_factory=set)  # `patch envoyfilters`
    changes: int = 0

    def put(self, resource: Resource) -> None:
        metadata = resource["metadata"]
        path = kind_of(resource).path(metadata.get("namespace", ""), metadata["name"])
        self.changes += 1
        self.stored[path] = {**resource, "metadata": {**metadata, "resourceVersion": str(self.changes)}}

    def snapshot(self) -> dict[str, Resource]:
        """All that is there, without what changes with each write."""
        found = copy.deepcopy(self.stored)
        for each in found.values():
            each["metadata"].pop("resourceVersion")
        return found

    def versions(self) -> dict[str, str]:
        return {path: each["metadata"]["resourceVersion"] for path, each in self.stored.items()}

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Resource]:
        if path.rstrip("/") == "/version":
            return 200, {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
        if path.endswith("/selfsubjectaccessreviews"):
            wanted = body["spec"]["resourceAttributes"]
            return 201, {"status": {"allowed": f"{wanted['verb']} {wanted['resource']}" not in self.forbidden}}
        if self._is_list(path):
            return self._listed(path, query)
        if method == "GET":
            return self._found(path)
        if method == "DELETE":
            found = self.stored.pop(path, None)
            self._emptied(path)
            return (200, found) if found else _problem(404, f"{path} not found")
        return self._written(method, path, query, body)

    def _is_list(self, path: str) -> bool:
        return path.rpartition("/")[2] in {kind.plural for kind in KINDS.values()}

    def _listed(self, path: str, query: dict[str, str]) -> tuple[int, Resource]:
        root, _, plural = path.rpartition("/")
        if f"list {plural}" in self.forbidden:
            return _problem(403, f"cannot list {plural}")
        wanted = dict(part.split("=") for part in query.get("labelSelector", "").split(",") if part)
        items = [
            each
            for where, each in sorted(self.stored.items())
            if where.startswith(f"{root}/")
            and where.split("/")[-2] == plural
            and wanted.items() <= (each["metadata"].get("labels") or {}).items()
        ]
        return 200, {"items": items}

    def _found(self, path: str) -> tuple[int, Resource]:
        return (200, self.stored[path]) if path in self.stored else _problem(404, f"{path} not found")

    def _written(self, method: str, path: str, query: dict[str, str], body: Resource) -> tuple[int, Resource]:
        before = self.stored.get(path, {})
        if method == "PUT" and body["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]:
            return _problem(409, "the object has been modified")
        after = body if method == "PUT" else _merged(before, body)
        if {**after, "metadata": {**after["metadata"], "resourceVersion": ""}} == {
            **before,
            "metadata": {**before.get("metadata", {}), "resourceVersion": ""},
        }:
            return 200, before
        if "dryRun" not in query:
            self.put(after)
            after = self.stored[path]
        return 200, after

    def _emptied(self, path: str) -> None:
        root, _, name = path.rpartition("/")
        if root == "/api/v1/namespaces":
            for each in [where for where in self.stored if f"/namespaces/{name}/" in where]:
                del self.stored[each]


@contextmanager
def small_api_server(work_dir: Path) -> Iterator[tuple[SmallApiServer, Path]]:
    """With a kubeconfig for it."""
    server = SmallApiServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def handle_any(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            status, document = server.answer(self.command, parts.path, query, body)
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 -- the base class's names

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}"
    Thread(target=http.serve_forever, daemon=True).start()
    kubeconfig = work_dir / "kubeconfig"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": server.url}}],
        "users": [{"name": "me", "user": {"token": "t"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    kubeconfig.write_text(json.dumps(content))
    try:
        yield server, kubeconfig
    finally:
        http.shutdown()
        http.server_close()


def _merged(before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return {**before, **{name: _merged(before.get(name), each) for name, each in after.items()}}
    return after


def _problem(status: int, message: str) -> tuple[int, Resource]:
    return status, {"kind": "Status", "status": "Failure", "message": message, "reason": HTTPStatus(status).phrase}


MESH = "trustDomain: cluster.local\n"


def with_istio(server: SmallApiServer, listed: dict[str, list[Resource]], mesh: str = MESH) -> None:
    """A cluster with Istio in which these resources are."""
    server.put(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "envoyfilters.networking.istio.io"},
        }
    )
    server.put(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "istio", "namespace": "istio-system"},
            "data": {"mesh": mesh},
        }
    )
    for kind, resources in listed.items():
        for each in resources:
            server.put({"apiVersion": KINDS[kind].version, **each})

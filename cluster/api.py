"""A small client of the API server, so that the laboratory does not stand on the code that is tested in it."""

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

Resource = dict[str, Any]
RETRIES = 3


class ApiError(Exception):
    """What the API server refused."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Api:
    client: httpx.Client
    _kinds: dict[str, dict[str, tuple[str, bool]]] = field(
        default_factory=dict
    )  # by version: kind → plural, namespaced

    @staticmethod
    def connect(server: str, token: str, authority: Path) -> "Api":
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        limits = httpx.Limits(max_connections=200)
        context = ssl.create_default_context(cafile=authority)
        return Api(
            httpx.Client(base_url=server, headers=headers, verify=context, timeout=30, limits=limits, trust_env=False)
        )

    def call(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Any:
        content = None if body is None else json.dumps(body)
        for left in reversed(range(RETRIES + 1)):
            try:
                reply = self.client.request(method, path, content=content, headers={"content-type": kind})
                break
            except httpx.TransportError:  # a connection that the server closed, or a machine that is too busy
                if not left:
                    raise
        if reply.is_error:
            raise ApiError(reply.status_code, f"{method} {path}: {reply.text[:2000]}")
        return reply.json() if reply.headers.get("content-type", "").startswith("application/json") else reply.text

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def find(self, path: str) -> Any:
        """Like get, but None where there is nothing."""
        try:
            return self.call("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def address(self, resource: Resource) -> str:
        version, kind, metadata = resource["apiVersion"], resource["kind"], resource["metadata"]
        root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        if kind not in self._kinds.get(version, {}):
            found = [each for each in self.get(root)["resources"] if "/" not in each["name"]]
            self._kinds[version] = {each["kind"]: (each["name"], each["namespaced"]) for each in found}
        plural, namespaced = self._kinds[version][kind]
        scope = f"/namespaces/{metadata.get('namespace', 'default')}" if namespaced else ""
        return f"{root}{scope}/{plural}/{metadata['name']}"

    def apply(self, *resources: Resource) -> None:
        """Server-side apply: creates or updates."""
        for resource in resources:
            address = f"{self.address(resource)}?fieldManager=laboratory&force=true"
            self.call("PATCH", address, resource, "application/apply-patch+yaml")

    def watch(self, path: str) -> Iterator[tuple[str, Resource]]:
        """Everything that is there as ADDED, then what changes, for ever; lists again when the stream ends."""
        while True:
            listed = self.get(path)
            for item in listed["items"]:
                yield "ADDED", item
            version = listed["metadata"]["resourceVersion"]
            options = f"watch=1&resourceVersion={version}&timeoutSeconds=3600"
            try:
                with self.client.stream("GET", f"{path}?{options}", timeout=httpx.Timeout(30, read=None)) as stream:
                    for line in stream.iter_lines() if stream.is_success else ():
                        event = json.loads(line)
                        if event["type"] == "ERROR":
                            break
                        yield event["type"], event["object"]
            except httpx.TransportError:
                continue

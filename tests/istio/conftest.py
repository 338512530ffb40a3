"""Tests in the laboratory: `make test-istio`, or `python -m cluster run -- pytest tests/istio`; skipped elsewhere."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster.api import Api, Resource
from cluster.control_plane import API_PORT, TOKEN
from cluster.network import pod_namespace
from cluster.shops import is_ready

PATIENCE = 90  # seconds: what has not come to pass by then will not


@dataclass(frozen=True, slots=True)
class Laboratory:
    """A running laboratory, as a user and as its administrator know it."""

    run: Path
    kubeconfig: Path
    namespace: str
    api: Api

    @property
    def gateway(self) -> str:
        """Its pod may be another one by now."""
        [pod, *_] = eventually(lambda: self.pods("istio-ingress", "istio=ingress"))
        return f"http://{pod['status']['podIP']}"

    def pods(self, namespace: str, labels: str = "") -> list[Resource]:
        """Those that are ready and stay."""
        found = self.api.get(f"/api/v1/namespaces/{namespace}/pods?labelSelector={labels}")["items"]
        return [each for each in found if is_ready(each)]

    def ask(self, path: str = "/", headers: dict[str, str] | None = None, url: str = "") -> tuple[int, Any]:
        """A user's request through the gateway."""
        request = urllib.request.Request((url or self.gateway) + path, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def in_pod(self, namespace: str, pod: str, *command: str) -> str:
        """What a command prints in the network of a pod."""
        inside = ["nsenter", f"--net=/run/netns/{pod_namespace(namespace, pod)}", *command]
        return subprocess.run(inside, capture_output=True, text=True, check=False, timeout=30).stdout

    def proxy(self, namespace: str, pod: str, path: str) -> str:
        """What the administration of a pod's Envoy answers."""
        return self.in_pod(namespace, pod, "curl", "-s", f"http://127.0.0.1:15000{path}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By a mark, not in the fixture: then there is one line per file, not one per test."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and "CLUSTER_RUN" not in os.environ:
            item.add_marker(pytest.mark.skip("no laboratory here: `make test-istio` (as root) runs these in one"))


@pytest.fixture(scope="session")
def laboratory() -> Iterator[Laboratory]:
    run = Path(os.environ["CLUSTER_RUN"])
    api = Api.connect(f"https://127.0.0.1:{API_PORT}", TOKEN, run / "certificates/ca.crt")
    yield Laboratory(run, Path(os.environ["KUBECONFIG"]), os.environ.get("CLUSTER_NAMESPACE", ""), api)
    api.client.close()


def eventually(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What the condition says as soon as it says something true; the test fails if it never does."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not after {seconds} s"
        time.sleep(0.1)
    return found

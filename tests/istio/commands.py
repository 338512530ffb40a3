"""Cutset as its users run it, in a folder of their own."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.istio.conftest import Laboratory, eventually

SECONDS = 600  # for a command, on a machine that is busy
GATEWAY = "istio-ingress/ingress"


def cutset(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Keys are in the same folder."""
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder)}
    return subprocess.run(
        ["cutset", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@contextmanager
def installed(laboratory: Laboratory, folder: Path, *options: str) -> Iterator[Path]:
    """Cutset in the shop, for as long as somebody is inside."""
    done = cutset(folder, "install", "--namespace", laboratory.namespace, *options)
    assert done.returncode == 0, done.stderr
    try:
        yield folder
    finally:
        done = cutset(folder, "uninstall", "--namespace", laboratory.namespace)
        assert done.returncode == 0, done.stderr


def configured(folder: Path, laboratory: Laboratory, **sections: Any) -> Path:
    """A cutset.yaml for the small shop."""
    content: dict[str, Any] = {
        "istio": {"namespaces": [laboratory.namespace], "gateway": GATEWAY},
        "requests": [{"name": "front page", "path": "/"}],
        "limits": {"max_size": 2},
        **sections,
    }
    file = folder / "cutset.yaml"
    file.write_text(json.dumps(content))
    return file


def cuts_of(report: Mapping[str, Any]) -> set[tuple[str, ...]]:
    """Of a report in JSON, whichever request they are of."""
    return {
        tuple(sorted(fault.partition(":")[0] for fault in finding["cut"]))
        for request in report["requests"]
        for finding in request["findings"]
    }


def roll_out(laboratory: Laboratory, deployment: str, mark: str) -> None:
    """As `kubectl rollout restart` does."""
    path = f"/apis/apps/v1/namespaces/{laboratory.namespace}/deployments/{deployment}"
    template = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": mark}}}
    laboratory.api.call("PATCH", path, {"spec": {"template": template}}, "application/merge-patch+json")


def wait_until_rolled_out(laboratory: Laboratory, deployment: str) -> None:
    path = f"/apis/apps/v1/namespaces/{laboratory.namespace}/deployments/{deployment}"

    def settled() -> bool:
        found = laboratory.api.get(path)
        status, wanted = found["status"], found["spec"]["replicas"]
        counts = {status.get(each, 0) for each in ("replicas", "updatedReplicas", "availableReplicas")}
        return bool(status.get("observedGeneration") == found["metadata"]["generation"] and counts == {wanted})

    eventually(settled)

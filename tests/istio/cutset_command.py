"""The command `cutset` in the laboratory with keys of its own, plans that it would sign, all that is in the cluster."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.api import Api, ApiError, Resource

from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault

# What comes and goes by itself, or only says how things are.
_PASSING = ("events", "leases", "endpoints", "endpointslices", "componentstatuses", "controllerrevisions")
TOO_MANY_REQUESTS = 429
_OF_THE_SERVER = ("resourceVersion", "managedFields", "generation")


@dataclass(frozen=True, slots=True)
class CutsetCommand:
    folder: Path  # for keys

    def run(self, *arguments: str, expected: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cutset", *arguments]
        environ = {**os.environ, "XDG_CONFIG_HOME": str(self.folder)}
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == expected, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
        return ended

    def document(self, *arguments: str, expected: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*arguments, "--json", expected=expected).stdout)
        return found

    def key(self, environment: str) -> bytes:
        return (self.folder / "cutset" / "keys" / f"{environment}.pem").read_bytes()

    def plan(self, *faults: str, environment: str = "shop", **options: Any) -> dict[str, str]:
        """The headers of a request with these faults."""
        given: dict[str, Any] = {"trace_id": secrets.token_hex(16), "span_id": secrets.token_hex(8)}
        given |= {"environment": environment, "expires": time.time() + 60}
        given["key"] = options.get("key") or self.key(environment)
        return plan_headers(frozenset(map(Fault.parse, faults)), **given | options)


def everything(api: Api) -> dict[str, Resource]:
    """All resources of all kinds, by their addresses, without what the server keeps and what is only told."""
    found: dict[str, Resource] = {}
    groups = [each["preferredVersion"]["groupVersion"] for each in api.get("/apis")["groups"]]
    for root in ("/api/v1", *(f"/apis/{each}" for each in groups)):
        for kind in api.get(root)["resources"]:
            if "list" not in kind["verbs"] or "/" in kind["name"] or kind["name"] in _PASSING:
                continue
            for each in _listed(api, f"{root}/{kind['name']}"):
                metadata = each["metadata"]
                address = f"{root}/{kind['name']}/{metadata.get('namespace', '')}/{metadata['name']}"
                kept = {name: text for name, text in metadata.items() if name not in _OF_THE_SERVER}
                found[address] = {**each, "metadata": kept, "status": None}
    return found


def _listed(api: Api, address: str) -> list[Resource]:
    """Asked again where the server says that it is not ready yet."""
    while True:
        try:
            return list(api.get(address).get("items") or ())
        except ApiError as error:
            if error.code != TOO_MANY_REQUESTS:
                raise
            time.sleep(0.5)


def managers(api: Api, address: str) -> set[str]:
    return {each["manager"] for each in api.get(address)["metadata"].get("managedFields", ())}


def changes(before: Mapping[str, Resource], after: Mapping[str, Resource]) -> dict[str, str]:
    found = dict.fromkeys(after.keys() - before.keys(), "came")
    found |= dict.fromkeys(before.keys() - after.keys(), "went")
    return found | {each: "differs" for each in before.keys() & after.keys() if before[each] != after[each]}

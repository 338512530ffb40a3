"""The EnvoyFilter of an application namespace: what makes its sidecars obey plans. One for all pods, no restart."""

from collections.abc import Mapping

from cutset.inject.istio.envoy_filter import INBOUND, OUTBOUND, before_router, envoy_filter, merged_manager
from cutset.inject.istio.marks import INSTALLATION, Installation, digest, marked
from cutset.inject.sidecar import inbound_filters, inbound_options, outbound_filters
from cutset.model.cluster import Resource


def sidecars_filter(wanted: Installation, namespace: str, names: Mapping[str, str]) -> Resource:
    """`names`: what points call the workloads. Its version is in the Lua, too, which tells it to probes."""
    version = digest(_unmarked(wanted, namespace, names, ""))
    found = _unmarked(wanted, namespace, names, version)
    return marked(found, wanted.environment, version=version, **{INSTALLATION: wanted.to_json()})


def _unmarked(wanted: Installation, namespace: str, names: Mapping[str, str], version: str) -> Resource:
    patches = [
        *before_router(INBOUND, inbound_filters(names, wanted.environment, wanted.public_key, version)),
        *merged_manager(INBOUND, inbound_options()),
        *before_router(OUTBOUND, outbound_filters()),
    ]
    return envoy_filter(wanted.name, namespace, patches)

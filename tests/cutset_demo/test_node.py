import os
import signal

import httpx

from cutset_demo.node import GRPC_SERVICES
from cutset_demo.shop import SERVICES, free_addresses, run_shop


def test_a_node_serves_every_service_of_the_shop():
    assert {name for name, kind in SERVICES.items() if kind == "grpc"} == set(GRPC_SERVICES)


def test_killing_one_node_leaves_the_other_replica_of_every_service(tmp_path):
    listen = free_addresses(2)
    second = {name: addresses[1] for name, addresses in listen.items()}
    with run_shop(listen, second, work_dir=tmp_path) as shop:
        os.kill(shop.node_pids[0], signal.SIGKILL)
        answer = httpx.get(f"http://{second['frontend']}/", trust_env=False, timeout=30)

    assert answer.status_code == 200

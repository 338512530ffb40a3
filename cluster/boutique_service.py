"""One service of the boutique as the process of a pod: python -m cluster.boutique_service SERVICE STORES COLLECTOR.

STORES is the address where Redis, NATS and PostgreSQL listen; callees are found by the names of their Services.
"""

import logging
import os
import signal
import sys

import uvloop

from cluster.boutique import PORTS, STORE_PORTS
from cutset_demo.node import run_node


def main(service: str, stores: str, collector: str) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    # A node ends with its standard input, which nobody holds open for a container: SIGTERM closes this one.
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    signal.signal(signal.SIGTERM, lambda *_: os.close(writing))
    uvloop.run(
        run_node(
            {os.environ["HOSTNAME"]: {service: f"0.0.0.0:{PORTS[service]}"}},
            {name: f"{name}:{port}" for name, port in PORTS.items()},
            {name: f"{stores}:{port}" for name, port in STORE_PORTS.items()},
            collector,
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A real Dask cluster: a scheduler and two workers, processes that share nothing with each other but the network."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Workers = list[subprocess.Popen[bytes]]


@contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, Workers]]:
    """Its address, and its workers, which write to the folder alone."""
    from distributed import Client

    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", *common, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    programs = [["distributed.cli.dask_scheduler", *common, "--host", "127.0.0.1", "--port", "0"], worker, worker]
    started = [
        subprocess.Popen([sys.executable, "-m", *program], cwd="/", stderr=subprocess.DEVNULL) for program in programs
    ]
    try:
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address.replace("tcp://", "dask://"), started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()

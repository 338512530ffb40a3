"""Who does the work: this process, several of this machine's, or a Dask cluster."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

from cutset.errors import TargetError, UsageError

DASK = "dask://"
CONNECT_SECONDS = 10


@contextmanager
def open_executor(workers: str) -> Iterator[Executor]:
    """`workers` is a number of processes, or `dask://host:port`, the address of a Dask scheduler."""
    if workers.startswith(DASK):
        with _dask_executor(workers.removeprefix(DASK)) as executor:
            yield executor
        return
    if not workers.isdecimal() or int(workers) == 0:
        raise UsageError(
            f"`{workers}` is no number of workers", hint="Give a number of processes, as in `4`, or `dask://host:8786`"
        )
    # Spawned, since a fork while DuckDB's or gRPC's threads run may never come to life.
    processes = int(workers)
    executor = (
        ThreadPoolExecutor(1)
        if processes == 1
        else ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    )
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 -- an extra
    except ImportError:
        raise UsageError(
            f"`{DASK}{address}` needs the package `distributed`", hint="pip install 'cutset[dask]'"
        ) from None
    try:
        client = Client(f"tcp://{address}", timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise TargetError(
            f"Cannot reach a Dask scheduler at `{address}`: {error}",
            hint="Start one with `dask scheduler` and workers with `dask worker`; they need Cutset and the same store",
        ) from None
    with client, client.get_executor(pure=False) as executor:
        yield executor

"""Who does the work: this process, several of this machine's, or a Dask cluster."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import TypeVar

from cutset.errors import TargetError, UsageError

DASK = "dask://"
CONNECT_SECONDS = 10

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def open_executor(workers: str) -> Iterator[Executor | None]:
    """`workers` is a number of processes, or `dask://host:port`, the address of a Dask scheduler.

    None stands for this process alone.
    """
    check_workers(workers)
    if workers.startswith(DASK):
        with _dask_executor(workers.removeprefix(DASK)) as executor:
            yield executor
    elif int(workers) > 1:
        with _process_executor(int(workers)) as executor:
            yield executor
    else:
        yield None


def check_workers(workers: str) -> None:
    if not workers.startswith(DASK) and not (workers.isdecimal() and int(workers) > 0):
        raise UsageError(
            f"`{workers}` is no number of workers", hint="Give a number of processes, as in `4`, or `dask://host:8786`"
        )


def results_of(executor: Executor | None, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results in whatever order they come. What is not done when the caller has enough is not begun."""
    if executor is None:
        yield from map(task, items)
        return
    with submitted(executor, task, items) as futures:
        for future in as_completed(futures):
            futures.remove(future)  # with its result, which may be large
            yield future.result()


@contextmanager
def submitted(
    executor: Executor, task: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[set[Future[Result]]]:
    """What is not done at the end is not begun any more."""
    with _uninterrupted():
        futures = {executor.submit(task, item) for item in items}
    try:
        yield futures
    except (BrokenExecutor, CancelledError):
        raise TargetError(
            "A worker died before its work was done",
            hint="If memory ran out, fewer workers need less; a cluster's scheduler must stay up",
        ) from None
    finally:
        for future in futures:
            future.cancel()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until workers have come to life: they would print what they were interrupted at."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def without_collector() -> Iterator[None]:
    """Reading makes millions of objects, none of them garbage, and Python would look through them again and again.

    To read OTLP files takes a third less without it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _process_executor(processes: int) -> Iterator[Executor]:
    others = set(multiprocessing.active_children())
    # Spawned, since a fork while the threads of DuckDB or gRPC run may never come to life.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(processes, mp_context=context, initializer=_die_with_parent)
    try:
        yield executor
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _die_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback of its own
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise TargetError(
            f"Cannot reach a Dask scheduler with workers at `{address}`: {error}",
            hint="Start one with `dask scheduler` and workers with `dask worker`; they need Cutset and the same store",
        ) from None
    with client, client.get_executor(pure=False) as executor:
        yield executor

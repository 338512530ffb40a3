"""`cutset ui`: the dashboard."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, StoreOption
from cutset.cli.output import notes
from cutset.cli.run import run_async, stopped_by_signals
from cutset.config.explore import load_config, plan_key
from cutset.errors import UsageError
from cutset.web.dashboard import Dashboard
from cutset.web.reading import Reading
from cutset.web.server import served_dashboard

DEFAULT_PORT = 8017
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def ui_command(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = DEFAULT_PORT,
    host: Annotated[
        str, typer.Option("--host", help="Another address than loopback goes with `--read-only`.")
    ] = LOOPBACK[0],
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", help="A name by which browsers know this host, `build:8443` if by another port; several times."
        ),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="For sharing: no token, and nothing acts.")] = False,
    config_file: ConfigOption = DEFAULT_CONFIG,
    baseline: Annotated[Path, typer.Option("--baseline", help="Where findings are accepted.")] = Path("baseline.yaml"),
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Open the dashboard: what was found, why, and what to do about it, for people who would rather look than read.

    It reads what is recorded, also while something else records it. Experiments can be started from it where there is a
    configuration, and `CUTSET_KEY` is set as for `cutset explore`. The link that it prints holds a token.

    Examples:

    - `cutset ui`: on http://127.0.0.1:8017
    - `cutset ui --read-only --host 0.0.0.0 --name build.example`: for the team, to look at only
    - `cutset demo --ui`: the demo, with the shop still running to experiment on
    """
    if host not in LOOPBACK and not read_only:
        raise UsageError(f"On `{host}` others could start experiments", hint="Add `--read-only`, or leave `--host` out")
    if store.exists() and not store.is_dir():
        raise UsageError(f"`{store}` is not a folder", hint="`--store` is where Cutset records: by default `.cutset`")
    run_async(_serve(host, port, name or [], config_file, baseline, store, read_only=read_only))


async def _serve(
    host: str, port: int, names: list[str], config_file: Path, baseline: Path, store: Path, *, read_only: bool
) -> None:
    with ExitStack() as stack:
        dashboard = Dashboard(Reading(store, stack), baseline_file=baseline, read_only=read_only)
        dashboard.reading.refreshed()  # a ledger that cannot be read is told here, not on every page
        if not read_only:
            _arm(dashboard, config_file)
        await show_dashboard(dashboard, host, port, names)


def _arm(dashboard: Dashboard, config_file: Path) -> None:
    """So that experiments can be started; else it says why they cannot."""
    if config_file == DEFAULT_CONFIG and not config_file.exists():
        _note(f"there is no {config_file}")
        return
    config = load_config(config_file)
    try:
        dashboard.key, dashboard.config_file = plan_key(config, os.environ), config_file
    except UsageError as error:
        _note(error.message)


def _note(why: str) -> None:
    notes().print(f"note: nothing can be started from here: {why}", style="dim", markup=False)


@contextmanager
def dashboard_beside(store: Path) -> Iterator[Dashboard]:
    """Open while the block goes on with something else: in a thread of its own, in which it also reads the store."""
    opened: Future[tuple[Dashboard, str, Callable[[], object]]] = Future()

    async def serve() -> None:
        closing, loop = asyncio.Event(), asyncio.get_running_loop()
        with ExitStack() as stack:
            dashboard = Dashboard(Reading(store, stack))
            async with served_dashboard(dashboard) as link:
                opened.set_result((dashboard, link, lambda: loop.call_soon_threadsafe(closing.set)))
                await closing.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error)

    thread = threading.Thread(target=run, name="cutset-ui", daemon=True)
    thread.start()
    dashboard, link, close = opened.result()
    notes().print(f"Dashboard  {link}", markup=False)
    try:
        yield dashboard
    finally:
        close()
        thread.join()


async def until_stopped() -> None:
    await stopped_by_signals().wait()


async def show_dashboard(dashboard: Dashboard, host: str, port: int, names: list[str]) -> None:
    """Until Ctrl-C."""
    stopped = stopped_by_signals()
    async with served_dashboard(dashboard, host, port, names) as link:
        notes().print(f"Dashboard  {link}\nPress Ctrl-C to stop", markup=False)
        await stopped.wait()

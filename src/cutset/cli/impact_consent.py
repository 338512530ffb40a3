"""Asks before live requests are marked: how many, with what, and what would stop it."""

import asyncio
import sys
from collections.abc import Iterator

from rich.markup import escape

from cutset.app.impact import ImpactForecast
from cutset.cli.impact_progress import HOW_TO_STOP
from cutset.cli.output import notes
from cutset.errors import UsageError
from cutset.guards.settings import GuardSettings


async def confirm(forecast: ImpactForecast) -> None:
    """Reads the answer without standing still: spans arrive meanwhile, and Ctrl-C is heard."""
    console = notes()
    for line in forecast_lines(forecast):
        console.print(line)
    console.print("Go on? [y/N] ", end="", markup=False)
    loop, answered = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), answered.set)
    try:
        await answered.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was injected", hint="Say `y` to go on, or `--yes` not to be asked")


def forecast_lines(forecast: ImpactForecast) -> Iterator[str]:
    yield f"[bold]{escape(forecast.what)}[/]"
    if not forecast.per_second:  # nothing of users' requests is seen unless they are marked
        yield f"Requests of users will be marked for {forecast.seconds:,.0f} s, half of them with the fault"
    else:
        yield _expected(forecast)
    yield "It ends at once"
    for guard in guards_in_words(forecast.guards):
        yield f"- when {escape(guard)}"
    yield f"- {HOW_TO_STOP}"
    yield "- when this process ends, however it ends: the edge asks it about each request"


def _expected(forecast: ImpactForecast) -> str:
    return (
        f"About {forecast.marked:,} requests of users will be marked in {forecast.seconds:,.0f} s, at "
        f"{forecast.per_second:.3g} requests per second; {forecast.faulted:,} of them with the fault"
    )


def guards_in_words(guards: GuardSettings) -> Iterator[str]:
    over = f"of the last {guards.over:g} s"
    if guards.error_rate:
        yield f"more than {100 * guards.error_rate:.3g} % of requests without the fault fail, {over}"
    if guards.latency:
        yield f"more than one of 20 requests without the fault takes longer than {guards.latency:g} s, {over}"
    for query in guards.prometheus:
        limits = [
            f"{word} {limit:g}" for word, limit in (("above", query.above), ("below", query.below)) if limit is not None
        ]
        yield f"Prometheus: {query.query} is {' or '.join(limits)}"
    yield from (f"{url.url} is not answered {url.status} within {url.within:g} s" for url in guards.urls)
    if guards.max_marked:
        yield f"{guards.max_marked:,} requests are marked"
    if guards.max_failed:
        yield f"{guards.max_failed:,} requests with the fault fail"
    if guards.hours:
        yield f"it is not {guards.hours}"
    if guards.telemetry:
        yield f"no span arrives for {guards.telemetry:g} s"

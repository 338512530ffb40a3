"""The Python API, `import cutset`: what the commands do, as functions that return when it is done.

Who wants the events as they happen, or is asynchronous anyway, uses the generators of `cutset.app` underneath.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from cutset.app.explore import explore as explore_events
from cutset.app.explore import replay_finding
from cutset.config.explore import Config, adjusted, load_config
from cutset.config.key import signing_key
from cutset.errors import UsageError
from cutset.model.campaign import Campaign, campaign_of
from cutset.model.event import CampaignEvent
from cutset.model.outcome import Outcome

Result = TypeVar("Result")
_IN_A_LOOP = "An event loop is running already, and this function needs one of its own"


def explore(
    config: str | Path | Config = "cutset.yaml",
    *,
    requests: Sequence[str] = (),
    max_size: int | None = None,
    key: bytes | None = None,
    store: str | Path = ".cutset",
    resume: bool = False,
    on_event: Callable[[CampaignEvent], None] | None = None,
) -> Campaign:
    """Finds every minimal cut of the requests, by experiments on the running target, as `cutset explore` does.

    `key` signs the plans; by default it is that in `CUTSET_KEY`. `on_event` is told everything as it happens.
    """
    wanted = adjusted(_config(config), requests=requests, limits={"max_size": max_size})
    events = explore_events(wanted, key=_key(key), store=Path(store), resume=resume)
    return campaign_of(_run(_collected(events, on_event)))


def replay(
    finding: str,
    config: str | Path | Config = "cutset.yaml",
    *,
    key: bytes | None = None,
    store: str | Path = ".cutset",
) -> Outcome:
    """Tries one finding again, by its id, as `cutset explore --replay` does."""
    return _run(replay_finding(_config(config), finding, key=_key(key), store=Path(store))).outcome


def _config(config: str | Path | Config) -> Config:
    return config if isinstance(config, Config) else load_config(Path(config))


def _key(key: bytes | None) -> bytes:
    return signing_key(os.environ) if key is None else key


async def _collected(
    events: AsyncGenerator[CampaignEvent, None], on_event: Callable[[CampaignEvent], None] | None
) -> list[CampaignEvent]:
    collected = []
    async with aclosing(events):
        async for event in events:
            collected.append(event)
            if on_event:
                on_event(event)
    return collected


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(_IN_A_LOOP, hint="Iterate over the generator of the same name in `cutset.app` instead")

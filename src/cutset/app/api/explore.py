"""Campaigns, from Python."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from cutset.app.api.waiting import collected, waited_for
from cutset.app.check import check_campaign, require
from cutset.app.explore import explore as explore_events
from cutset.app.explore import replay_finding
from cutset.config.explore import Config, adjusted, load_config, plan_key
from cutset.model.campaign import Campaign, campaign_of
from cutset.model.event import CampaignEvent
from cutset.model.outcome import Outcome


def explore(
    config: str | Path | Config = "cutset.yaml",
    *,
    requests: Sequence[str] = (),
    effects: Sequence[str] = (),
    max_size: int | None = None,
    key: bytes | None = None,
    store: str | Path = ".cutset",
    resume: bool = False,
    on_event: Callable[[CampaignEvent], None] | None = None,
) -> Campaign:
    """Finds every minimal cut of the requests, by experiments on the running target, as `cutset explore` does.

    It ends as that does: what was found is proven again from the ledger alone, else it is an error.

    `effects`, as `["abort(503)", "timeout"]`, take the place of those in the configuration. `key` signs the plans; by
    default it is that in `CUTSET_KEY`. `on_event` is told everything as it happens.
    """
    wanted = adjusted(_config(config), requests=requests, effects=effects, limits={"max_size": max_size})
    secret = key or plan_key(wanted, os.environ)
    campaign = campaign_of(collected(explore_events(wanted, key=secret, store=Path(store), resume=resume), on_event))
    require(check_campaign(store, campaign.id, key=secret))
    return campaign


def replay(
    finding: str,
    config: str | Path | Config = "cutset.yaml",
    *,
    key: bytes | None = None,
    store: str | Path = ".cutset",
) -> Outcome:
    """Tries one finding again, by its id, as `cutset explore --replay` does."""
    wanted = _config(config)
    secret = key or plan_key(wanted, os.environ)
    return waited_for(replay_finding(wanted, finding, key=secret, store=Path(store))).outcome


def _config(config: str | Path | Config) -> Config:
    return config if isinstance(config, Config) else load_config(Path(config))

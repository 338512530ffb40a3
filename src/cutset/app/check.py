"""Checks a campaign from its ledger alone, by code that shares nothing with the search: `cutset.check`."""

from collections.abc import Callable
from pathlib import Path

from cutset.check import check
from cutset.errors import RefutedError
from cutset.inject.signing import seal_of
from cutset.model.proof import CheckedCampaign
from cutset.store.ledger import NAME


def check_campaign(
    store: str | Path = ".cutset",
    campaign: str = "",
    *,
    key: bytes = b"",
    tell: Callable[[str], None] = lambda _: None,
) -> CheckedCampaign:
    """What of the campaign's claims is proven; by default of the latest.

    With a `key`, that in `CUTSET_KEY` when it was recorded, its seal is verified, too. `tell` is told which request is
    looked at.
    """
    return check(Path(store) / NAME, campaign, key=seal_of(key), tell=tell)


def exit_code(checked: CheckedCampaign) -> int:
    """0: all that was asked for is proven; 3: what is claimed holds, and is less; 5: a claim does not hold."""
    if checked.refuted:
        return RefutedError.exit_code
    return 0 if checked.proven else 3


def require(checked: CheckedCampaign) -> None:
    """For whoever has just recorded the campaign: nobody else had a hand in it."""
    if checked.refuted:
        raise RefutedError(
            f"What this campaign reports does not follow from its record: {checked.refuted[0]}",
            hint="This is a mistake in Cutset, not of yours: do not rely on the report, and report it with what "
            f"`cutset check {checked.id}` says",
        )

"""Reads campaigns from the ledger: as a whole, compared, in the formats of CI, and cut by cut."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutset.errors import TargetError
from cutset.model.campaign import Campaign
from cutset.model.run import Loop, RunRecord
from cutset.model.summary import CampaignSummary
from cutset.report.campaign import baseline, explanation, junit, sarif
from cutset.report.campaign.baseline import Accepted, Comparison
from cutset.report.campaign.explanation import ExplainedRequest
from cutset.report.campaign.json import to_document
from cutset.report.campaign.markdown import to_markdown
from cutset.report.campaign.sarif import IN_CONFIGURATION, Places
from cutset.report.campaign.standalone import campaign_page
from cutset.report.replaying import replay_command
from cutset.store.ledger import open_existing_ledger
from cutset.store.runs import campaign_events, latest_run, tried_by_hand


@dataclass(frozen=True, slots=True)
class ForCi:
    """What a campaign is compared with, and the files that it leaves besides the report."""

    against: Path | None = None
    accepted: Sequence[Accepted] = ()
    junit_file: Path | None = None
    sarif_file: Path | None = None
    places: Places = IN_CONFIGURATION
    html_file: Path | None = None
    markdown_file: Path | None = None


def loop_of(store: Path, run: str) -> Loop | None:
    """What kind of run this is; None if there is no such run."""
    with open_existing_ledger(store) as ledger:
        return next((each.started.loop for each in ledger.runs() if each.id == run), None)


def list_campaigns(store: Path) -> list[RunRecord]:
    with open_existing_ledger(store) as ledger:
        return ledger.runs(Loop.CAMPAIGN)


def read_campaign(store: Path, wanted: str = "") -> Campaign:
    """By default the latest."""
    with open_existing_ledger(store) as ledger:
        run = latest_run(ledger, Loop.CAMPAIGN, wanted)
        return Campaign(run.id, tuple(campaign_events(ledger, run.id)))


def replay_of(campaign: Campaign, store: Path) -> str:
    """The command that tries a finding again; it takes the id as its last word."""
    return replay_command(campaign.started, store)


def compare_with_baseline(campaign: Campaign, wanted: ForCi) -> Comparison | None:
    return baseline.compare(wanted.accepted, campaign.events) if wanted.against else None


def write_for_ci(campaign: Campaign, store: Path, wanted: ForCi, comparison: Comparison | None) -> None:
    replay = replay_of(campaign, store)
    if wanted.junit_file:
        _write(wanted.junit_file, junit.to_xml(campaign.summary, replay, comparison))
    if wanted.sarif_file:
        document = sarif.to_document(campaign.summary, campaign.id, replay, comparison, wanted.places)
        _write(wanted.sarif_file, json.dumps(document, indent=2) + "\n")
    if wanted.html_file:
        _write(wanted.html_file, campaign_page(campaign, replay, comparison=comparison))
    if wanted.markdown_file:
        against = str(wanted.against) if wanted.against else ""
        _write(wanted.markdown_file, to_markdown(campaign.summary, campaign.id, replay, comparison, against))


def campaign_document(campaign: Campaign, store: Path, wanted: ForCi, comparison: Comparison | None) -> dict[str, Any]:
    document = to_document(campaign.summary, campaign.id, replay_of(campaign, store))
    if comparison is not None:
        document["against"] = baseline.to_document(comparison, str(wanted.against))
    return document


def exit_code(summary: CampaignSummary, comparison: Comparison | None = None) -> int:
    """0 survived, 1 findings, 3 could not tell.

    A call that no plan reaches was not tested, so that nobody can say that the request survives its failure. Data
    stores that services call directly are another matter: reports list them, and no mesh was asked to test them.
    """
    if comparison.failures if comparison is not None else summary.findings:
        return 1
    blind = comparison is not None and any(comparison.blind(request.name) for request in summary.requests)
    return 0 if summary.complete and not summary.out_of_reach and not blind else 3


def explain(store: Path, campaign: str, cut: str, requests: Sequence[str] = ()) -> tuple[str, list[ExplainedRequest]]:
    """The campaign's id, and what it says of the cut for each request."""
    known = read_campaign(store, campaign)
    with open_existing_ledger(store) as ledger:
        by_hand = tried_by_hand(ledger, known.id)
    return known.id, explanation.answers(cut, known.events, requests, by_hand)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        hint = "What was found is kept: `cutset report` writes it elsewhere"
        raise TargetError(f"Cannot write `{path}`: {error.strerror}", hint=hint) from error

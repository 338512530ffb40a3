"""Cutset finds the smallest sets of failures that break a user's request.

    import cutset

    campaign = cutset.explore("cutset.yaml")
    for finding in campaign.findings:
        print(finding.request, cutset.format_cut(finding.cut), finding.outcome.reason)

What is named in `__all__` is the Python API (docs/how-to/python.md). It is loaded when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutset.app.api.drill import run_drills
    from cutset.app.api.explore import explore, replay
    from cutset.app.api.harden import harden_campaign
    from cutset.app.api.impact import measure_impact
    from cutset.app.api.reproduce import reproduce_failure
    from cutset.app.api.traces import ingest, survey_store
    from cutset.app.check import check_campaign
    from cutset.app.mesh import run_mesh_file
    from cutset.app.report import exit_code, read_campaign
    from cutset.config.explore import Config, load_config
    from cutset.errors import CutsetError
    from cutset.model.campaign import Campaign
    from cutset.model.effect import Effect
    from cutset.model.fault import Cut, Fault, format_cut
    from cutset.model.finding import Finding
    from cutset.model.impact import ApiImpact, ApiVerdict, Impact
    from cutset.model.outcome import Outcome, Verdict
    from cutset.model.point import Point
    from cutset.model.proof import CheckedCampaign, CheckedRequest
    from cutset.model.request import Expectation, Request, Step
    from cutset.model.summary import CampaignSummary, RequestSummary
    from cutset.model.target import Target

__version__ = "0.1.0"
__all__ = [
    "ApiImpact",
    "ApiVerdict",
    "Campaign",
    "CampaignSummary",
    "CheckedCampaign",
    "CheckedRequest",
    "Config",
    "Cut",
    "CutsetError",
    "Effect",
    "Expectation",
    "Fault",
    "Finding",
    "Impact",
    "Outcome",
    "Point",
    "Request",
    "RequestSummary",
    "Step",
    "Target",
    "Verdict",
    "check_campaign",
    "exit_code",
    "explore",
    "format_cut",
    "harden_campaign",
    "ingest",
    "load_config",
    "measure_impact",
    "read_campaign",
    "replay",
    "reproduce_failure",
    "run_drills",
    "run_mesh_file",
    "survey_store",
]

# Where each is. All of it together takes a second to import, and a script seldom needs all.
_PLACES = {
    "app.api.drill": ("run_drills",),
    "app.api.explore": ("explore", "replay"),
    "app.api.harden": ("harden_campaign",),
    "app.api.impact": ("measure_impact",),
    "app.api.reproduce": ("reproduce_failure",),
    "app.api.traces": ("ingest", "survey_store"),
    "app.check": ("check_campaign",),
    "app.mesh": ("run_mesh_file",),
    "app.report": ("exit_code", "read_campaign"),
    "config.explore": ("Config", "load_config"),
    "errors": ("CutsetError",),
    "model.campaign": ("Campaign",),
    "model.effect": ("Effect",),
    "model.fault": ("Cut", "Fault", "format_cut"),
    "model.finding": ("Finding",),
    "model.impact": ("ApiImpact", "ApiVerdict", "Impact"),
    "model.outcome": ("Outcome", "Verdict"),
    "model.point": ("Point",),
    "model.proof": ("CheckedCampaign", "CheckedRequest"),
    "model.request": ("Expectation", "Request", "Step"),
    "model.summary": ("CampaignSummary", "RequestSummary"),
    "model.target": ("Target",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module `cutset` has no attribute `{name}`")
    return getattr(import_module(f"cutset.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

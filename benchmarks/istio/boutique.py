"""The boutique as pods: does `cutset explore` find there exactly the answer key, and how many experiments a second?"""

from pathlib import Path

import yaml
from benchmarks.istio.ground import Ground, Told, cutset, tell

import cutset_demo
from cluster import boutique, shops
from cutset.app.demo import AnswerCheck, answer_key, check_answers
from cutset.app.report import read_campaign
from cutset.lineage.path import Level
from cutset.model.summary import CampaignSummary

REPLICAS = 2
QUICK_REQUESTS = 2  # request classes
EXPLORE_SECONDS = 1_800


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    set_up_boutique(at)
    file = write_config(at, quick=quick)
    store = at.home / "boutique-store"
    told = explored(at, file, store)
    summary, checked = judged(store)
    experiments = sum(request.experiments for request in summary.requests)
    for line in (*checked.wrong, *checked.unfinished):
        tell(line)
    found = len(summary.findings)
    tell(f"{experiments} experiments in {told.seconds:.0f} s; {found} cuts, {checked.expected} in the key")
    return {
        "boutique_cuts": None if checked.wrong else found,  # as many others would prove nothing
        "answer_key": checked.expected,
        "experiments_per_second": round(experiments / told.seconds, 1),
    }


def set_up_boutique(at: Ground) -> None:
    """Once: pods, and our filters."""
    if not at.api.find(f"/api/v1/namespaces/{boutique.NAMESPACE}"):
        boutique.start_stores(at.place)
        at.api.apply(*boutique.boutique(REPLICAS))
        shops.wait_until_available(at.place, at.api)
    cutset(at, "install", "-n", boutique.NAMESPACE)


def write_config(at: Ground, *, quick: bool) -> Path:
    """As a user has it."""
    requests = yaml.safe_load((Path(cutset_demo.__file__).parent / "requests.yaml").read_text())
    gateway = f"{shops.GATEWAYS}/{boutique.NAMESPACE}"
    content = {
        "istio": {"namespaces": [boutique.NAMESPACE], "gateway": gateway},
        "requests": requests[: QUICK_REQUESTS if quick else None],
    }
    file = at.home / "boutique.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


def explored(at: Ground, file: Path, store: Path, *options: str) -> Told:
    """1: there are findings; 3: not all could be decided."""
    arguments = ("explore", "-c", str(file), "--store", str(store), *options)
    return cutset(at, *arguments, expected=(0, 1, 3), patience=EXPLORE_SECONDS)


def judged(store: Path) -> tuple[CampaignSummary, AnswerCheck]:
    """The latest campaign, held against the shop's weaknesses."""
    summary = read_campaign(store).summary
    return summary, check_answers(summary, answer_key(summary, Level.API, REPLICAS))

"""A Deployment is restarted while a campaign is under way: no false finding, and in the end exactly the answer key."""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.istio.boutique import EXPLORE_SECONDS, explored, judged, set_up_boutique, write_config
from benchmarks.istio.ground import Ground, eventually, tell

from cluster import boutique, shops
from cutset.app.report import read_campaign
from cutset.errors import CutsetError

RESTARTED = ("productcatalog", "cart")
EXPERIMENTS_BEFORE = 1
START_SECONDS = 600
RESUMPTIONS = 3


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    set_up_boutique(at)
    file, store = write_config(at, quick=quick), at.home / "rollout-store"
    campaign = subprocess.Popen(
        (sys.executable, "-m", "cutset", "explore", "-c", str(file), "--store", str(store)),
        env=at.environment,
        cwd=at.home,
        stdout=subprocess.DEVNULL,
        stderr=sys.stderr,
    )
    try:
        eventually("the first experiments", lambda: _experiments(store) >= EXPERIMENTS_BEFORE, START_SECONDS)
        for name in RESTARTED:
            restart(at, name)
        tell(f"{', '.join(RESTARTED)} restarted after {_experiments(store)} experiments")
        code = campaign.wait(EXPLORE_SECONDS)
    finally:
        campaign.kill()
        campaign.wait()
    shops.wait_until_available(at.place, at.api)
    tell(f"the campaign ended with {code}")
    return {"rollout_survived": _reaches_the_key(at, file, store)}


def restart(at: Ground, name: str) -> None:
    """As `kubectl rollout restart` does it, and until all new pods are ready."""
    path = f"/apis/apps/v1/namespaces/{boutique.NAMESPACE}/deployments/{name}"
    told = {"kubectl.kubernetes.io/restartedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    change = {"spec": {"template": {"metadata": {"annotations": told}}}}
    at.api.call("PATCH", path, change, "application/merge-patch+json")
    shops.wait_until_available(at.place, at.api)


def _experiments(store: Path) -> int:
    try:
        return sum(request.experiments for request in read_campaign(store).summary.requests)
    except CutsetError:
        return 0


def _reaches_the_key(at: Ground, file: Path, store: Path) -> bool:
    """A false finding at any time is one too many."""
    for attempt in range(RESUMPTIONS + 1):
        summary, checked = judged(store)
        tell(f"{len(summary.findings)} cuts of {checked.expected}; wrong: {checked.wrong}; open: {checked.unfinished}")
        if checked.wrong:
            return False
        if summary.complete:
            return len(summary.findings) == checked.expected
        if attempt < RESUMPTIONS:
            explored(at, file, store, "--resume")
    return False

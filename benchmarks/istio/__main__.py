"""Cutset in a real Istio, from install to uninstall: all topics in one laboratory, one JSON line.

python -m cluster run --shop none -- python -m benchmarks.istio [--quick] [TOPIC …]
"""

import json
import os
import subprocess
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

import httpx
from benchmarks.istio.checks import INSTALL
from benchmarks.istio.checks_of_tracing import set_up_team
from benchmarks.istio.ground import SHOP, Ground, cutset, eventually, ground, set_up_shop, tell
from benchmarks.istio.hops import set_up_hops
from benchmarks.topics import chosen_topics
from cluster.containers import ENVOY

# The first two install by themselves; for the others it is installed, and then stays.
TOPICS = ("checks", "doctor", "mixed", "forgeries", "cost", "others", "boutique", "rollout", "hardening")


def main() -> None:
    topics, quick = chosen_topics(TOPICS, __doc__)
    if "CLUSTER_RUN" not in os.environ:
        raise SystemExit("there is no laboratory here: `make bench-istio`")
    with tempfile.TemporaryDirectory(prefix="cutset-bench-") as home:
        at = ground(Path(home))
        figures, broken = _measured(at, topics, quick=quick)
        print(json.dumps(_versions(at) | figures))
    if broken:
        raise SystemExit(f"not measured: {', '.join(broken)}")


def _measured(at: Ground, topics: list[str], *, quick: bool) -> tuple[dict[str, object], list[str]]:
    """And which topics could not be measured: the others are worth having."""
    figures: dict[str, object] = {}
    broken: list[str] = []
    for set_up in (set_up_shop, set_up_hops, set_up_team):
        set_up(at)
    for topic in topics:
        begin = time.monotonic()
        try:
            if topic not in TOPICS[:2]:
                cutset(at, *INSTALL)
            figures |= import_module(f"benchmarks.istio.{topic}").measure(at, quick=quick)
            if topic == "doctor":  # whose key is not ours
                cutset(at, "uninstall", "-n", SHOP, "--no-wait")
                eventually("the end of our namespace", lambda: not at.api.find("/api/v1/namespaces/cutset"))
        except (Exception, SystemExit):  # noqa: BLE001 -- whatever it is, it is told
            broken.append(topic)
            traceback.print_exc()
        tell(f"{topic}: {time.monotonic() - begin:.0f} s")
    return figures, broken


def _versions(at: Ground) -> dict[str, object]:
    """As the programs themselves say."""
    istiod = httpx.get("http://127.0.0.1:15014/version", trust_env=False).text
    envoy = subprocess.run([ENVOY, "--version"], check=True, capture_output=True, text=True).stdout
    return {
        "istio": istiod.split("-")[0],
        "kubernetes": at.api.get("/version")["gitVersion"],
        "envoy": envoy.split("version:")[1].split("/")[1],
    }


if __name__ == "__main__":
    main()

"""`cutset harden --apply istio --verify` on the small shop: are the cuts gone that remedies should remove?

At the level of replicas: nothing in Istio helps against a whole API that fails, so that nothing would be predicted.
"""

import yaml
from benchmarks.istio.ground import SHOP, Ground, cutset, tell

from cluster import shops

BUDGET = 2
CONFIG = {
    "istio": {"namespaces": [SHOP], "gateway": f"{shops.GATEWAYS}/ingress"},
    "points": "replica",
    "requests": [{"path": "/"}],
    "limits": {"max_size": 1},
}


def measure(at: Ground, *, quick: bool) -> dict[str, object]:  # noqa: ARG001 -- it is as small as it can be
    file, store = at.home / "harden.yaml", at.home / "harden-store"
    file.write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    places = ("-c", str(file), "--store", str(store))
    cutset(at, "explore", *places, expected=(1,))
    options = ("--apply", "istio", "--verify", "--known-only", "--budget", str(BUDGET), "--json")
    told = cutset(at, "harden", *options, *places, expected=(0, 1, 3))
    cutset(at, "harden", "--undo", *places)
    cuts = told.json["verification"]["cuts"]
    predicted = [each for each in cuts if each["expected_gone"]]
    verified = [each for each in predicted if each["verdict"] in ("survived", "degraded")]
    tell(f"harden: {len(verified)} of {len(predicted)} cuts gone as predicted, of {len(cuts)}; {told.seconds:.0f} s")
    return {"harden_verified": 0 < len(predicted) == len(verified)}

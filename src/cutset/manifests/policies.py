"""Settings of a whole service put into a DestinationRule that others wrote, wherever it would override them."""

from collections.abc import Iterator, Mapping
from typing import Any

from cutset.manifests.istio import merged
from cutset.manifests.wanted import Clash, Manifest, Merging

_ONE_THING = ("outlierDetection", "retryBudget")  # ours mixed into theirs would be neither
_NOT_BY_PORT = ("retryBudget",)


def merge_policy(spec: Manifest, wanted: Mapping[str, Any]) -> Merging:
    """With all that was there. A setting that is there in one place already, and differently, is put nowhere."""
    policy = dict(spec.get("trafficPolicy") or {})
    added: list[tuple[None, str, Any]] = []
    clashes: list[Clash] = []
    for name, value in wanted.items():
        places = dict(_places(spec, policy, name))
        found = {path: _merged(there, name, value) for path, there in places.items()}
        if bad := [
            path for path, whole in found.items() if whole is None or (_is_subset(path) and whole != places[path])
        ]:
            clashes.append(Clash(None, bad[0], places[bad[0]], value))
            continue
        if all(found[path] == places[path] for path in found):
            continue
        added.append((None, name, value))
        policy[name] = found[f"spec.trafficPolicy.{name}"]
        if "portLevelSettings" in policy and name not in _NOT_BY_PORT:
            policy["portLevelSettings"] = [
                {**entry, name: found[f"spec.trafficPolicy.portLevelSettings[{position}].{name}"]}
                for position, entry in enumerate(policy["portLevelSettings"])
            ]
    return Merging({**spec, "trafficPolicy": policy} if added else spec, tuple(added), tuple(clashes))


def _places(spec: Manifest, policy: Manifest, name: str) -> Iterator[tuple[str, Any]]:
    """Where the setting has to be, and what is there: ports inherit nothing, subsets what they do not set."""
    yield f"spec.trafficPolicy.{name}", policy.get(name)
    if name not in _NOT_BY_PORT:
        for position, entry in enumerate(policy.get("portLevelSettings", ())):
            yield f"spec.trafficPolicy.portLevelSettings[{position}].{name}", entry.get(name)
    for position, subset in enumerate(spec.get("subsets", ())):
        own = subset.get("trafficPolicy") or {}
        for key in (name, "portLevelSettings"):
            if key in own:
                yield f"spec.subsets[{position}].trafficPolicy.{key}", own[key]


def _is_subset(path: str) -> bool:
    """Whether it is only read: what a subset sets by itself is its own."""
    return path.startswith("spec.subsets")


def _merged(there: Any, name: str, value: Any) -> Any:
    """None if they differ."""
    if there is None or there == value:
        return value
    if name in _ONE_THING or not isinstance(there, dict):
        return None
    result, conflicts = merged(there, value)
    return None if conflicts else result

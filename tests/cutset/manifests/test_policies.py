from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.manifests.istio import istio_problems
from cutset.manifests.policies import merge_policy
from cutset.manifests.wanted import EJECTION, Manifest

POOL = {"http": {"http2MaxRequests": 150, "http1MaxPendingRequests": 150}}
BUDGET = {"percent": 20.0, "minRetryConcurrency": 3}
WANTED = {"outlierDetection": EJECTION, "connectionPool": POOL, "retryBudget": BUDGET}

outliers = st.sampled_from([{"interval": "5s"}, EJECTION])
pools = st.sampled_from(
    [{"tcp": {"maxConnections": 9}}, {"http": {"http2MaxRequests": 7}}, {"http": {"maxRetries": 2}}]
)
parts = {"outlierDetection": outliers, "connectionPool": pools, "tls": st.just({"mode": "ISTIO_MUTUAL"})}
port = st.fixed_dictionaries({"port": st.just({"number": 80})}, optional=parts)
policy = st.fixed_dictionaries(
    {}, optional=parts | {"portLevelSettings": st.lists(port, max_size=2), "retryBudget": st.just({"percent": 5.0})}
)
subset = st.fixed_dictionaries({"name": st.just("v1")}, optional={"trafficPolicy": policy})
specs = st.fixed_dictionaries(
    {"host": st.just("cart")}, optional={"trafficPolicy": policy, "subsets": st.lists(subset, max_size=2)}
)
wanted = st.sets(st.sampled_from(sorted(WANTED)), min_size=1).map(lambda names: {name: WANTED[name] for name in names})


def holds(part: Any, whole: Any) -> bool:
    """Whether the part is in the whole, as it was."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and holds(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(holds, part, whole))
    return bool(part == whole)


@settings(deadline=None)
@given(specs, wanted)
def test_all_that_was_there_is_there_as_it_was_and_what_comes_of_it_is_valid(spec: Manifest, ours: Manifest) -> None:
    original = deepcopy(spec)
    merging = merge_policy(spec, ours)
    assert spec == original
    assert holds(spec, merging.spec)
    assert merging.spec.get("subsets") == spec.get("subsets")
    assert not list(istio_problems({"kind": "DestinationRule", "spec": merging.spec}))
    again = merge_policy(merging.spec, ours)
    assert (again.spec, again.added) == (merging.spec, ())
    assert again.clashes == merging.clashes


@settings(deadline=None)
@given(specs, wanted)
def test_each_setting_holds_for_every_port_or_its_clash_is_named(spec: Manifest, ours: Manifest) -> None:
    merging = merge_policy(spec, ours)
    clashing = {name for name in ours for clash in merging.clashes if clash.wanted == ours[name]}
    policy = merging.spec.get("trafficPolicy", {})
    for name in ours.keys() - clashing:
        assert holds(ours[name], policy[name])
        for entry in policy.get("portLevelSettings", ()):
            assert name == "retryBudget" or holds(ours[name], entry[name])
    assert all(
        merging.spec.get("trafficPolicy", {}).get(name) == spec.get("trafficPolicy", {}).get(name) for name in clashing
    )


@pytest.mark.parametrize(
    ("spec", "clash"),
    [
        ({"trafficPolicy": {"outlierDetection": {"interval": "5s"}}}, "spec.trafficPolicy.outlierDetection is {"),
        (
            {"subsets": [{"name": "v1", "trafficPolicy": {"outlierDetection": {}}}]},
            "spec.subsets[0].trafficPolicy.outlierDetection is {}",
        ),
        (
            {
                "trafficPolicy": {
                    "portLevelSettings": [{"port": {"number": 80}, "outlierDetection": {"interval": "9s"}}]
                }
            },
            "spec.trafficPolicy.portLevelSettings[0].outlierDetection",
        ),
    ],
)
def test_what_is_there_already_is_named(spec: Manifest, clash: str) -> None:
    merging = merge_policy({"host": "cart", **spec}, {"outlierDetection": EJECTION})
    assert clash in str(merging.clashes[0])
    assert (merging.added, merging.spec) == ((), {"host": "cart", **spec})

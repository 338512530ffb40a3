import pytest
from benchmarks.microfi_counts import DEPLOYMENTS, counted, ldfi_counts, microfi_counts

from cutset.search.strategies import AcrossRequests, StrategyName


def test_the_systems_have_as_many_apis_as_the_logs_do() -> None:
    """Each injection that is logged is of the first versions of one API: so many per API, by LDFI in every request."""
    for deployment in DEPLOYMENTS.values():
        apis = [apis.split() for apis in deployment.requests.values()]
        assert sum(map(len, apis)) * deployment.replicas == deployment.ldfi - deployment.repeated
        assert len(set().union(*apis)) * deployment.replicas == deployment.microfi
        assert all(len(each) == len(set(each)) for each in apis)


def test_ldfi_takes_as_many_injections_as_the_logs_have_different_sets() -> None:
    for counts in ldfi_counts().values():
        assert counts["ldfi"] == counts["published_distinct"] <= counts["published"]


def test_microfi_takes_as_many_injections_as_are_logged() -> None:
    for counts in microfi_counts().values():
        assert counts["microfi"] == counts["published"]


def test_cuts_takes_no_more_injections_than_microfi_and_decides_everything() -> None:
    for name, counts in microfi_counts().items():
        assert counts["cuts"] <= counts["published"]
        assert counted(name, StrategyName.CUTS, AcrossRequests.TRUST).complete == len(DEPLOYMENTS[name].requests)


@pytest.mark.parametrize("name", DEPLOYMENTS)
@pytest.mark.parametrize(
    ("strategy", "across"),
    [
        (StrategyName.LDFI, AcrossRequests.VERIFY),
        (StrategyName.MICROFI, AcrossRequests.TRUST),
        (StrategyName.CUTS, AcrossRequests.TRUST),
    ],
)
def test_every_api_of_every_request_is_found(name: str, strategy: StrategyName, across: AcrossRequests) -> None:
    apis = sum(len(apis.split()) for apis in DEPLOYMENTS[name].requests.values())

    assert counted(name, strategy, across).found == apis

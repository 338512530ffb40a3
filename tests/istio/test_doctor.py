"""The doctor in a real cluster: what it says of a set-up that is well, and of every way in which one is not."""

import asyncio
from collections.abc import Iterator

import pytest
from benchmarks.istio.doctor import CASES, Case, SetUp, examined, fresh, installed, well
from tests.istio.conftest import Laboratory

from cutset.app.doctor_istio import examine_cluster
from cutset.experiment.istio_installed import OwnSide
from cutset.model.checkup import LineState
from cutset.model.cluster import IstioPlace


@pytest.fixture(scope="module")
def own(laboratory: Laboratory) -> Iterator[OwnSide]:
    with installed() as found:
        yield found


def test_before_anything_is_installed_the_cluster_is_judged(laboratory: Laboratory) -> None:
    found = asyncio.run(examine_cluster(IstioPlace((laboratory.namespace,)), None))
    assert {each.name: each.state for each in found if each.name in ("istio", "rights", "namespaces")} == {
        "istio": LineState.WELL,
        "rights": LineState.WELL,
        "namespaces": LineState.WELL,
    }


def test_what_was_just_installed_is_well(laboratory: Laboratory, own: OwnSide) -> None:
    assert "what is installed in shop is up to date" in well(fresh(laboratory.api, own))


# One of each kind: `make bench-istio` has them all.
SOME = (
    "nothing installed",
    "MeshConfig written anew",
    "a later DestinationRule ejects replicas",
    "another filter that removes",
    "a pod without a sidecar",
    "a gateway without pods",
    "no rights",
    "no cluster",
)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SOME], ids=lambda case: case.name)
def test_what_is_wrong_is_named(
    laboratory: Laboratory, own: OwnSide, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(laboratory.kubeconfig))  # which some cases change
    system: SetUp = fresh(laboratory.api, own)
    assert examined(case, system, well(system))

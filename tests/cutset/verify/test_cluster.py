"""On an API server in memory; on a real one with Istio they are in `tests/istio/test_harden.py`."""

import asyncio
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from tests.cutset.manifests.test_routes import specs
from tests.samples.cluster_in_memory import OWNED, ClusterInMemory

from cutset.errors import TargetError
from cutset.harden.choose import choose
from cutset.harden.decision import Decision, expected_gone
from cutset.harden.problem import Choice, problem_of
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.kubernetes.client import ConflictError
from cutset.model.cluster import ClusterPod, ClusterPort, ClusterService, ClusterView, WorkloadName
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.hardening import CallsObserved, Latency, MeshChanging
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.verify.cluster import ClusterPlace, hosts_of, mesh_services
from cutset.verify.place import Prospect

SITE = Point("backend", "GET /a")
HOST = "backend.shop.svc.cluster.local"
FINDING = Finding("GET /", Outcome(frozenset({Fault.parse("backend/GET /a#backend-1")}), Verdict.FAILED, "503"))
OBSERVED = CallsObserved(efforts={}, latencies={SITE: Latency(10, 0.1, 0.2, 0.2, 0.5)})
THEIRS = {"hosts": ["backend"], "http": [{"route": [{"destination": {"host": "backend", "subset": "v1"}}]}]}


def decision() -> Decision:
    problem = problem_of([FINDING])
    best = choose(problem, 1)
    assert isinstance(best, Choice)
    return Decision((FINDING,), problem, best, {SITE: SiteEvidence(SITE)})


def shop() -> ClusterInMemory:
    """A Service with two pods behind it, as discovery wants to see them."""
    cluster = ClusterInMemory()
    cluster.add("Service", "backend", {"selector": {"app": "backend"}, "ports": [{"port": 80, "name": "http"}]})
    for number in (1, 2):
        cluster.add(
            "Pod",
            f"backend-{number}",
            {"containers": [{"name": "app"}, {"name": "istio-proxy", "image": "proxyv2:1.31.0"}]},
            labels={"app": "backend"},
        )["status"] = {}
        cluster.resources[f"Pod shop/backend-{number}"]["status"] = {
            "phase": "Running",
            "podIP": f"10.0.0.{number}",
            "conditions": [{"type": "Ready", "status": "True"}],
        }
    return cluster


def place(cluster: ClusterInMemory) -> ClusterPlace:
    return ClusterPlace(cluster.cluster, ("shop",), "test")


def planned(cluster: ClusterInMemory) -> Prospect:
    return asyncio.run(planning(cluster))


async def planning(cluster: ClusterInMemory) -> Prospect:
    view = ClusterView((SERVICE,), (), names=(WorkloadName("shop", "backend", "backend", ("backend",), 2),))
    return await place(cluster).plan(decision(), mesh_services(view), OBSERVED)


def put(cluster: ClusterInMemory, prospect: Prospect, announced: MeshChanging | None = None) -> None:
    asyncio.run(place(cluster).put(prospect, announced or prospect.change))


def take_back(cluster: ClusterInMemory, change: MeshChanging) -> str:
    return asyncio.run(place(cluster).take_back(change))


PODS = tuple(ClusterPod("shop", f"backend-{n}", "backend", f"10.0.0.{n}", ready=True, sidecar=True) for n in (1, 2))
SERVICE = ClusterService("shop", "backend", (ClusterPort(80, 8080, "http"),), PODS)


def test_where_nothing_decides_about_the_host_something_of_ours_is_made_and_taken_away() -> None:
    cluster = shop()
    before = cluster.content()
    prospect = planned(cluster)
    assert cluster.content() == before
    put(cluster, prospect)
    made = cluster.resources["VirtualService shop/cutset-backend"]
    assert made["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "cutset",
        "cutset.dev/environment": "test",
        "cutset.dev/part": "hardening",
    }
    assert made["spec"]["hosts"] == [HOST]
    assert made["spec"]["http"][0]["retries"]["retryOn"].endswith(",503")
    assert "DestinationRule shop/cutset-backend" in cluster.resources
    assert expected_gone(decision(), mesh_services(VIEW), {}, prospect.repeats) == {FINDING.id}
    assert take_back(cluster, prospect.change) == ""
    assert cluster.content() == before


VIEW = ClusterView((SERVICE,), (), names=(WorkloadName("shop", "backend", "backend", ("backend",), 2),))


@settings(deadline=None, max_examples=50)
@given(specs)
def test_whatever_others_wrote_is_exactly_as_it_was_once_it_is_taken_back(spec: dict[str, Any]) -> None:
    cluster = shop()
    cluster.add("VirtualService", "theirs", {**deepcopy(spec), "hosts": ["backend"]}, **OWNED)
    before = cluster.content()
    prospect = planned(cluster)
    put(cluster, prospect)
    assert len(prospect.change.added) + len(prospect.change.kept) > 0
    assert take_back(cluster, prospect.change) == ""
    assert cluster.content() == before


def test_what_differs_is_named_with_its_writer_and_the_rest_is_added() -> None:
    cluster = shop()
    cluster.add("VirtualService", "theirs", {**THEIRS, "http": [THEIRS["http"][0] | {"timeout": "9s"}]}, **OWNED)
    prospect = planned(cluster)
    assert prospect.change.kept == (
        'VirtualService shop/theirs: spec.http[0].timeout is "9s", and would be "1.5s"; written by helm',
    )
    (added,) = [each for each in prospect.change.added if "theirs" in each]
    assert added.startswith('VirtualService shop/theirs: retries {"attempts": 1, ')
    assert added.endswith("} for backend/GET /a")


def test_what_somebody_changed_since_it_was_planned_is_not_overwritten() -> None:
    cluster = shop()
    theirs = cluster.add("VirtualService", "theirs", THEIRS)
    prospect = planned(cluster)
    theirs["spec"]["hosts"].append("other")
    cluster.resources["VirtualService shop/theirs"] = theirs
    with pytest.raises(ConflictError, match="VirtualService shop/theirs was changed since"):
        put(cluster, prospect)
    assert cluster.resources["VirtualService shop/theirs"] == theirs


def test_what_somebody_changed_after_us_stays_and_is_named_while_the_rest_is_taken_back() -> None:
    cluster = shop()
    cluster.add("VirtualService", "theirs", THEIRS)
    prospect = planned(cluster)
    put(cluster, prospect)
    now = cluster.resources["VirtualService shop/theirs"]
    now["spec"]["http"].append({"route": [{"destination": {"host": "x"}}]})
    assert take_back(cluster, prospect.change) == (
        "VirtualService shop/theirs was changed by somebody since, so that it stays as it is now"
    )
    assert cluster.resources["VirtualService shop/theirs"] == now
    assert "DestinationRule shop/cutset-backend" not in cluster.resources


@pytest.mark.parametrize("writes", range(3))
def test_killed_between_any_two_writes_it_is_gone_on_with_or_taken_back(writes: int) -> None:
    class KilledError(Exception):
        pass

    def strike(_: object) -> None:
        if len(cluster.writes) > writes:
            raise KilledError

    cluster = shop()
    cluster.add("VirtualService", "theirs", THEIRS, **OWNED)
    before = cluster.content()
    prospect = planned(cluster)
    assert len(prospect.change.resources) == 2
    cluster.on_write = strike
    if writes < 2:
        with pytest.raises(KilledError):
            put(cluster, prospect)
    cluster.on_write = lambda _: None
    half = deepcopy(cluster)
    put(cluster, prospect)
    whole = cluster.content()
    assert take_back(cluster, prospect.change) == ""
    assert cluster.content() == before
    assert take_back(half, prospect.change) == ""
    assert half.content() == before
    again = planned(cluster)
    put(cluster, again, prospect.change)
    assert cluster.content() == whole
    assert planned(cluster).change.added == ()


def test_what_does_not_answer_is_a_problem_of_taking_back_and_not_the_end_of_it() -> None:
    cluster = shop()
    prospect = planned(cluster)
    put(cluster, prospect)

    async def refuse(*_: object, **__: object) -> None:
        raise TargetError("no")

    cluster.delete = refuse  # type: ignore[assignment, method-assign]
    assert take_back(cluster, prospect.change) == "no; no"
    assert "VirtualService shop/cutset-backend" in cluster.resources


def test_points_lead_to_the_service_of_their_name() -> None:
    two = replace(SERVICE, name="backend-all")
    names = (WorkloadName("shop", "backend", "backend", ("backend-all", "backend"), 2),)
    view = ClusterView((two, SERVICE), (), names=names)
    assert hosts_of(view) == {"backend": HOST}
    assert hosts_of(replace(view, ambiguous=(("backend", "two of them"),))) == {}


@pytest.mark.parametrize(("protocol", "retries"), [("http", 0), ("grpc", 2)])
def test_what_istio_does_by_itself_is_known(protocol: str, retries: int) -> None:
    service = replace(SERVICE, ports=(ClusterPort(80, 8080, protocol),))
    (found,) = mesh_services(replace(VIEW, services=(service,)))
    assert (found.protocol, found.retries, len(found.replicas)) == (protocol, retries, 2)

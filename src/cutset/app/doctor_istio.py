"""Reads from a cluster with Istio what the doctor judges."""

import asyncio
import time
from contextlib import suppress

from cutset.errors import TargetError
from cutset.experiment.istio_checks import NEEDED_KINDS, IstioSituation, istio_checks
from cutset.experiment.istio_installed import OwnSide, installed_checks
from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.facts import mesh_configs, revisions
from cutset.inject.istio.marks import is_ours
from cutset.inject.istio.rights import MESH_CONFIG, AccessPlaces, AccessQuestion, questions
from cutset.kubernetes.client import Cluster, ForbiddenError, connected
from cutset.model.checkup import CheckupLine, wrong
from cutset.model.cluster import ClusterView, IstioPlace, Resource

_AT_ONCE = 16  # questions: the API server slows down who asks more


async def examine_cluster(place: IstioPlace, own: OwnSide | None) -> list[CheckupLine]:
    """Without our own side, nothing needs to be installed yet."""
    async with connected(place.context) as cluster:
        try:
            found, listed = await _situation(cluster, place)
        except ForbiddenError as error:
            missing = await _missing(cluster, AccessPlaces(place.namespaces, collector=place.collector_namespace))
            found = IstioSituation(place.namespaces, ClusterView((), ()), {}, missing_rights=missing)
            return [each for each in istio_checks(found) if each.name == "rights"] + [
                wrong("cluster", error.message, error.hint, fatal=True)
            ]
    checks = istio_checks(found)
    if own is None or any(check.fatal for check in checks):
        return checks
    return [*checks, *installed_checks(place.namespaces, found.view, listed, own)]


async def _situation(cluster: Cluster, place: IstioPlace) -> tuple[IstioSituation, dict[str, list[Resource]]]:
    known = await asyncio.gather(*(cluster.knows(kind) for kind in NEEDED_KINDS))
    sent = time.time()
    clock = await cluster.clock()
    answered = time.time()
    listed = await _listed(cluster, place)
    view = view_of(listed, place.namespaces)
    gateways = tuple(sorted({each.namespace for each in view.gateways} - set(place.namespaces)))
    configs = tuple(each["metadata"]["name"] for each in listed["ConfigMap"]) or (MESH_CONFIG,)
    space = await cluster.get("Namespace", place.collector_namespace)
    given = space is not None and not is_ours(space)
    places = AccessPlaces(place.namespaces, gateways, place.collector_namespace, mesh_configs=configs, given=given)
    listed["Pod"] = [*listed["Pod"], *await _if_allowed(cluster, "Pod", place.collector_namespace)]
    found = IstioSituation(
        namespaces=place.namespaces,
        view=view,
        listed=listed,
        kubernetes=await cluster.version(),
        unknown_kinds=tuple(kind for kind, there in zip(NEEDED_KINDS, known, strict=True) if not there),
        missing_rights=await _missing(cluster, places),
        clock_ahead=_ahead(clock, sent, answered),
        gateway=place.gateway,
        gateway_port=place.gateway_port,
    )
    return found, listed


def _ahead(clock: float, sent: float, answered: float) -> float:
    """How far a clock that is told to the second is certainly from ours."""
    if clock > answered:
        return clock - answered
    return min(0.0, clock + 1 - sent)


async def _listed(cluster: Cluster, place: IstioPlace) -> dict[str, list[Resource]]:
    listed = await list_resources(cluster, place.namespaces)
    listed["Deployment"] = await _if_allowed(cluster, "Deployment", place.collector_namespace)
    listed["Sidecar"] = [
        each for namespace in place.namespaces for each in await _if_allowed(cluster, "Sidecar", namespace)
    ]
    with suppress(TargetError):  # what there is in the usual place was listed
        listed["ConfigMap"] = await mesh_configs(cluster, revisions(listed["Pod"], place.namespaces))
    return listed


async def _if_allowed(cluster: Cluster, kind: str, namespace: str) -> list[Resource]:
    try:
        return await cluster.list(kind, namespace)
    except ForbiddenError:
        return []


async def _missing(cluster: Cluster, places: AccessPlaces) -> tuple[AccessQuestion, ...]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def allowed(asked: AccessQuestion) -> bool:
        async with slots:
            return await cluster.may(asked.verb, asked.kind, asked.namespace, asked.subresource, asked.name)

    asked = list(questions(places))
    answers = await asyncio.gather(*map(allowed, asked))
    return tuple(question for question, answer in zip(asked, answers, strict=True) if not answer)

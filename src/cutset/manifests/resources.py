"""What the VirtualServices and DestinationRules of a cluster have to become, so that they hold what is wanted.

What others wrote is added to, or left alone and named; where nothing decides about a host yet, something of ours will.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutset.manifests.governing import Governing, destination_rule_of, virtual_service_of
from cutset.manifests.istio import API_VERSION, routes_to
from cutset.manifests.owners import owners_of
from cutset.manifests.policies import merge_policy
from cutset.manifests.routes import merge_routes
from cutset.manifests.wanted import Clash, Manifest, Merging, WantedService
from cutset.model.cluster import Resource
from cutset.model.point import Point

ResourcesByKind = Mapping[str, Sequence[Resource]]  # by kind
Setting = tuple[Point | None, str, Any]  # of which site, its name and value


@dataclass(frozen=True, slots=True)
class Holding:
    """A setting that holds when all is done, whether we put it there or it was there."""

    site: Point | None  # None: for a whole service
    setting: str
    value: Any = field(hash=False)
    resource: str  # `VirtualService shop/cart`
    new: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Of what is wanted of a service, what goes into one resource."""

    kind: str
    host: str
    spec: Manifest  # of one of our own
    settings: tuple[Setting, ...]
    governing: Governing
    merge: Callable[[Manifest], Merging]


@dataclass(slots=True)
class ResourcePlan:
    changes: list[tuple[Resource | None, Resource]] = field(default_factory=list)  # before and after
    holding: list[Holding] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # what is there and stays, so that something of ours is not put there

    @property
    def added(self) -> list[str]:
        return [
            f"{each.resource}: {each.setting} {json.dumps(each.value)}" + (f" for {each.site}" if each.site else "")
            for each in self.holding
            if each.new
        ]


def resource_plan(
    wanted: Mapping[str, WantedService],
    hosts: Mapping[str, str],
    listed: ResourcesByKind,
    callers_in: Sequence[str],
    metadata: Manifest,
) -> ResourcePlan:
    """`hosts` are the full names of services, `metadata` is what marks resources of our own."""
    plan = ResourcePlan()
    for service, each in wanted.items():
        for part in _parts(each, hosts[service], listed, callers_in):
            if part.governing.resource is not None:
                _merge_into(part.governing.resource, part, plan)
            else:
                _make(_our_own(part, metadata), part, plan, listed)
    return plan


def _parts(wanted: WantedService, host: str, listed: ResourcesByKind, callers_in: Sequence[str]) -> Iterator[_Part]:
    """Policies first: whoever sees the routes sees them, too."""
    if wanted.policy:
        yield _Part(
            "DestinationRule",
            host,
            {"host": host, "trafficPolicy": dict(wanted.policy)},
            tuple((None, name, value) for name, value in wanted.policy.items()),
            destination_rule_of(host, listed["DestinationRule"], callers_in),
            lambda spec: merge_policy(spec, wanted.policy),
        )
    if wanted.routes:
        yield _Part(
            "VirtualService",
            host,
            {"hosts": [host], "http": routes_to(host, wanted.routes)},
            tuple((route.site, name, value) for route in wanted.routes for name, value in route.settings.items()),
            virtual_service_of(host, listed["VirtualService"], callers_in, listed.get("HTTPRoute", ())),
            lambda spec: merge_routes(spec, wanted.routes),
        )


def _make(own: Resource, part: _Part, plan: ResourcePlan, listed: ResourcesByKind) -> None:
    taken = any(_named(each) == _named(own) for each in listed[part.kind])
    if refused := part.governing.refused or (f"{_named(own)} is there, for another host" if taken else ""):
        settings = sorted({setting for _, setting, _ in part.settings})
        plan.kept.append(f"{refused}: {', '.join(settings)} of {part.host} would compete with it")
        return
    plan.changes.append((None, own))
    plan.holding += [Holding(*each, _named(own), new=True) for each in part.settings]


def _merge_into(theirs: Resource, part: _Part, plan: ResourcePlan) -> None:
    merging = part.merge(theirs["spec"])
    if merging.added:
        plan.changes.append((theirs, {**theirs, "spec": merging.spec}))
    new = [(site, setting) for site, setting, _ in merging.added]
    clashing = [(clash.site, setting) for clash in merging.clashes for setting in _settings(clash, part.settings)]
    plan.kept += [f"{_named(theirs)}: {clash}{_by(theirs, clash)}" for clash in merging.clashes]
    plan.holding += [
        Holding(site, setting, value, _named(theirs), new=(site, setting) in new)
        for site, setting, value in part.settings
        if (site, setting) not in clashing
    ]


def _settings(clash: Clash, wanted: Sequence[Setting]) -> list[str]:
    """Of its site, those that it keeps out."""
    return [
        setting
        for site, setting, value in wanted
        if site == clash.site and (clash.wanted == value or clash.path == "spec.http")
    ]


def _by(theirs: Resource, clash: Clash) -> str:
    owners = owners_of(theirs, clash.path)
    return f"; written by {', '.join(owners)}" if owners else ""


def _our_own(part: _Part, metadata: Manifest) -> Resource:
    service, namespace = part.host.split(".")[:2]
    whole = {"name": f"cutset-{service}", "namespace": namespace, **metadata}
    return {"apiVersion": API_VERSION, "kind": part.kind, "metadata": whole, "spec": part.spec}


def _named(resource: Resource) -> str:
    return f"{resource['kind']} {resource['metadata']['namespace']}/{resource['metadata']['name']}"

"""What Cutset must be allowed to do in a cluster, and no more: never to run commands in pods, never to read secrets.

One table: `cutset doctor` asks the API server for each line, and the roles that an administrator gives are made of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from cutset.inject.istio.discovery import ISTIO_NAMESPACE
from cutset.kubernetes.kinds import KINDS
from cutset.model.cluster import Resource

MESH_CONFIG = "istio"  # the ConfigMap; that of a revision is `istio-REVISION`


class AccessScope(StrEnum):
    APPLICATION = "application"  # the namespaces of the system under test
    GATEWAY = "gateway"  # those of the gateways that lead there
    COLLECTOR = "collector"
    ISTIO = "istio"  # where istiod is
    CLUSTER = "cluster"  # resources that are in no namespace


@dataclass(frozen=True, slots=True)
class AccessRight:
    command: str  # that cannot do without
    where: AccessScope
    verbs: tuple[str, ...]
    kinds: tuple[str, ...]
    subresource: str = ""
    name: str = ""  # of the one resource that it is for; empty: all


@dataclass(frozen=True, slots=True)
class AccessPlaces:
    """Where rights are for."""

    namespaces: tuple[str, ...]
    gateways: tuple[str, ...] = ()
    collector: str = "cutset"
    istio: str = ISTIO_NAMESPACE
    mesh_configs: tuple[str, ...] = (MESH_CONFIG,)  # one for each revision of Istio in use
    given: bool = False  # whether the namespace of the collector is an administrator's, and stays as it is

    def of(self, where: AccessScope) -> tuple[str, ...]:
        found: dict[AccessScope, tuple[str, ...]] = {
            AccessScope.APPLICATION: self.namespaces,
            AccessScope.GATEWAY: self.gateways,
            AccessScope.COLLECTOR: (self.collector,),
            AccessScope.ISTIO: (self.istio,),
            AccessScope.CLUSTER: ("",),
        }
        return found[where]


_ALL, _INSTALL, _UNINSTALL = "every command", "cutset install", "cutset uninstall"
IN_CLUSTER = "cutset explore --in-cluster"
_OF_JOB = ("Job", "Secret", "ServiceAccount")
_HARDEN = "cutset harden --apply istio"
_IMPACT = "cutset impact"
_READ, _WRITE = ("get", "list"), ("create", "patch")
_FORWARD = ("get", "create")  # by websocket: API servers ask for the one, the other, or both
_ROUTES = ("Gateway", "KubernetesGateway", "VirtualService", "HTTPRoute", "DestinationRule")
_OF_MESH = ("EnvoyFilter", "Telemetry")
_OURS = ("Service", "ServiceAccount", "Deployment")
_OF_MARKER = ("AuthorizationPolicy", "DestinationRule")

RIGHTS = (
    AccessRight(_ALL, AccessScope.CLUSTER, ("get",), ("Namespace",)),
    AccessRight(_ALL, AccessScope.APPLICATION, _READ, ("Service", "Pod", *_ROUTES, *_OF_MESH, "Sidecar")),
    AccessRight(_ALL, AccessScope.GATEWAY, _READ, ("Service", "Pod", *_ROUTES, "EnvoyFilter")),
    AccessRight(_ALL, AccessScope.COLLECTOR, _READ, ("Pod", *_OURS)),
    AccessRight(_ALL, AccessScope.ISTIO, ("get",), ("ConfigMap",), name=MESH_CONFIG),
    AccessRight("cutset doctor", AccessScope.ISTIO, ("list",), ("Pod", "EnvoyFilter", "Telemetry", "DestinationRule")),
    AccessRight(_INSTALL, AccessScope.APPLICATION, _WRITE, _OF_MESH),
    AccessRight(_INSTALL, AccessScope.GATEWAY, _WRITE, ("EnvoyFilter",)),
    AccessRight(_INSTALL, AccessScope.CLUSTER, ("create",), ("Namespace",)),
    AccessRight(_INSTALL, AccessScope.CLUSTER, ("patch",), ("Namespace",), name="cutset"),
    AccessRight(_INSTALL, AccessScope.COLLECTOR, _WRITE, _OURS),
    AccessRight(_INSTALL, AccessScope.ISTIO, ("update",), ("ConfigMap",), name=MESH_CONFIG),
    AccessRight(_INSTALL, AccessScope.COLLECTOR, _FORWARD, ("Pod",), "portforward"),
    AccessRight(_UNINSTALL, AccessScope.APPLICATION, ("delete",), _OF_MESH),
    # To see whether other environments need what all share; who may not look leaves it where it is.
    AccessRight(_UNINSTALL, AccessScope.CLUSTER, ("list",), (*_OF_MESH, "AuthorizationPolicy")),
    AccessRight(_UNINSTALL, AccessScope.GATEWAY, ("delete",), ("EnvoyFilter",)),
    AccessRight(_UNINSTALL, AccessScope.COLLECTOR, ("delete",), _OURS),
    AccessRight(_UNINSTALL, AccessScope.CLUSTER, ("delete",), ("Namespace",), name="cutset"),
    AccessRight("cutset explore", AccessScope.APPLICATION, ("list",), ("Deployment",)),
    AccessRight("cutset explore", AccessScope.COLLECTOR, _FORWARD, ("Pod",), "portforward"),
    AccessRight("cutset explore", AccessScope.GATEWAY, _FORWARD, ("Pod",), "portforward"),
    # With `--marking`: who may ask the marker, and how long it is waited for.
    AccessRight(_INSTALL, AccessScope.COLLECTOR, ("get", *_WRITE), _OF_MARKER),
    AccessRight(_UNINSTALL, AccessScope.COLLECTOR, ("list", "delete"), _OF_MARKER),
    AccessRight(_UNINSTALL, AccessScope.GATEWAY, ("delete",), ("AuthorizationPolicy",)),
    AccessRight(_IMPACT, AccessScope.GATEWAY, (*_READ, *_WRITE, "delete"), ("AuthorizationPolicy",)),
    AccessRight(_IMPACT, AccessScope.ISTIO, ("list",), ("AuthorizationPolicy",)),
    AccessRight(_IMPACT, AccessScope.COLLECTOR, _FORWARD, ("Pod",), "portforward"),
    AccessRight(IN_CLUSTER, AccessScope.COLLECTOR, ("create", "patch", "delete"), _OF_JOB),
    AccessRight(IN_CLUSTER, AccessScope.COLLECTOR, _READ, ("Job",)),
    # The Job has an account with roles of its own; nobody can give it more than they have themselves.
    *(
        AccessRight(IN_CLUSTER, where, ("create", "patch", "delete"), ("Role", "RoleBinding"))
        for where in (AccessScope.APPLICATION, AccessScope.GATEWAY, AccessScope.COLLECTOR, AccessScope.ISTIO)
    ),
    AccessRight(IN_CLUSTER, AccessScope.CLUSTER, ("create", "patch", "delete"), ("ClusterRole", "ClusterRoleBinding")),
    AccessRight(
        _HARDEN,
        AccessScope.APPLICATION,
        ("create", "patch", "update", "delete"),
        ("VirtualService", "DestinationRule"),
    ),
    AccessRight(_HARDEN, AccessScope.APPLICATION, ("create", "patch", "delete"), ("EnvoyFilter",)),
    AccessRight(_HARDEN, AccessScope.GATEWAY, ("create", "patch", "delete"), ("EnvoyFilter",)),
)

FROM_OUTSIDE = tuple({right.command: None for right in RIGHTS if right.command != IN_CLUSTER})  # without a Job's roles


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """One thing that the API server can be asked: may I?"""

    command: str
    verb: str
    kind: str
    namespace: str
    subresource: str = ""
    name: str = ""

    def __str__(self) -> str:
        found = KINDS[self.kind]
        what = found.plural + (f"/{self.subresource}" if self.subresource else "")
        whole = f"{what}.{found.group}" if found.group else what
        within = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {whole}{f' `{self.name}`' if self.name else ''}{within}"


def questions(places: AccessPlaces, commands: Iterable[str] = ()) -> Iterator[AccessQuestion]:
    """For these commands, or for all of them."""
    wanted = tuple(commands)
    for right in RIGHTS:
        if wanted and right.command not in (_ALL, *wanted):
            continue
        if places.given and right.kinds == ("Namespace",) and right.verbs != ("get",):
            continue
        names = places.mesh_configs if right.name == MESH_CONFIG else (right.name,)
        for namespace, kind, name, verb in product(places.of(right.where), right.kinds, names, right.verbs):
            yield AccessQuestion(right.command, verb, kind, namespace, right.subresource, name)


def role_resources(
    places: AccessPlaces,
    account: str = "cutset",
    account_namespace: str = "",
    *,
    commands: Iterable[str] = (),
    name: str = "cutset",
) -> list[Resource]:
    """Roles with what is in the table, bound to a user of that name, or to a ServiceAccount of that namespace.

    For these commands, or for all of them.
    """
    subject = (
        {"kind": "ServiceAccount", "name": account, "namespace": account_namespace}
        if account_namespace
        else {"kind": "User", "name": account, "apiGroup": "rbac.authorization.k8s.io"}
    )
    rules = _rules(places, commands)
    found: list[Resource] = []
    if cluster_wide := rules.pop("", None):
        found += _role("ClusterRole", {"name": name}, cluster_wide, subject)
    for namespace, of_namespace in sorted(rules.items()):
        found += _role("Role", {"name": name, "namespace": namespace}, of_namespace, subject)
    return found


def _rules(places: AccessPlaces, commands: Iterable[str]) -> dict[str, list[Resource]]:
    """By namespace, verbs that hold for the same resources together."""
    verbs: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
    for question in questions(places, commands):
        kind = KINDS[question.kind]
        resource = kind.plural + (f"/{question.subresource}" if question.subresource else "")
        verbs[question.namespace, kind.group, question.name, resource].add(question.verb)
    together: dict[tuple[str, str, str, Sequence[str]], set[str]] = defaultdict(set)
    for (namespace, group, name, resource), allowed in verbs.items():
        together[namespace, group, name, tuple(sorted(allowed))].add(resource)
    rules: dict[str, list[Resource]] = defaultdict(list)
    for (namespace, group, name, allowed_verbs), resources in together.items():
        only = {"resourceNames": [name]} if name else {}
        rule = {"apiGroups": [group], "resources": sorted(resources), **only, "verbs": list(allowed_verbs)}
        rules[namespace].append(rule)
    return rules


def _role(kind: str, metadata: Resource, rules: list[Resource], subject: Resource) -> list[Resource]:
    group = "rbac.authorization.k8s.io"
    reference = {"apiGroup": group, "kind": kind, "name": metadata["name"]}
    return [
        {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": f"{kind}Binding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [subject],
        },
    ]

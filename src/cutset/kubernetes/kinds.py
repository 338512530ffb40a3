"""The kinds of resources that we read or write, with their addresses in the API."""

from dataclasses import dataclass

from cutset.model.cluster import Resource


@dataclass(frozen=True, slots=True)
class ResourceKind:
    version: str
    plural: str
    namespaced: bool = True

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "") -> str:
        """Without a namespace: in all of them."""
        root = f"/apis/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{within}/{self.plural}" + (f"/{name}" if name else "")


KINDS = {
    "AuthorizationPolicy": ResourceKind("security.istio.io/v1", "authorizationpolicies"),
    "ClusterRole": ResourceKind("rbac.authorization.k8s.io/v1", "clusterroles", namespaced=False),
    "ClusterRoleBinding": ResourceKind("rbac.authorization.k8s.io/v1", "clusterrolebindings", namespaced=False),
    "ConfigMap": ResourceKind("v1", "configmaps"),
    "CustomResourceDefinition": ResourceKind("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False),
    "Deployment": ResourceKind("apps/v1", "deployments"),
    "DestinationRule": ResourceKind("networking.istio.io/v1", "destinationrules"),
    "EndpointSlice": ResourceKind("discovery.k8s.io/v1", "endpointslices"),
    "EnvoyFilter": ResourceKind("networking.istio.io/v1alpha3", "envoyfilters"),
    "Gateway": ResourceKind("networking.istio.io/v1", "gateways"),
    "HTTPRoute": ResourceKind("gateway.networking.k8s.io/v1", "httproutes"),
    "Job": ResourceKind("batch/v1", "jobs"),
    "KubernetesGateway": ResourceKind("gateway.networking.k8s.io/v1", "gateways"),  # there are two kinds called Gateway
    "Namespace": ResourceKind("v1", "namespaces", namespaced=False),
    "PeerAuthentication": ResourceKind("security.istio.io/v1", "peerauthentications"),
    "Pod": ResourceKind("v1", "pods"),
    "ReplicaSet": ResourceKind("apps/v1", "replicasets"),
    "Role": ResourceKind("rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ResourceKind("rbac.authorization.k8s.io/v1", "rolebindings"),
    "Secret": ResourceKind("v1", "secrets"),
    "Service": ResourceKind("v1", "services"),
    "ServiceAccount": ResourceKind("v1", "serviceaccounts"),
    "Sidecar": ResourceKind("networking.istio.io/v1", "sidecars"),
    "StatefulSet": ResourceKind("apps/v1", "statefulsets"),
    "Telemetry": ResourceKind("telemetry.istio.io/v1", "telemetries"),
    "VirtualService": ResourceKind("networking.istio.io/v1", "virtualservices"),
}


def kind_of(resource: Resource) -> ResourceKind:
    group = str(resource["apiVersion"]).rpartition("/")[0]
    found = KINDS[str(resource["kind"])]
    return KINDS["KubernetesGateway"] if found is KINDS["Gateway"] and group != found.group else found


def named(resource: Resource) -> str:
    """As people write it: `EnvoyFilter shop/cutset`."""
    metadata = resource["metadata"]
    within = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{resource['kind']} {within}{metadata['name']}"

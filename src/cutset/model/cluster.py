"""A Kubernetes cluster with Istio, as far as Cutset needs to know it: what runs where, and what it is told to do."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from cutset.model.expect import Expect, Name, Port

Resource = dict[str, Any]  # as Kubernetes writes it in JSON
_NAMESPACED = re.compile(r"[a-z0-9.-]+/[a-z0-9.-]+")
_HTTP = ("http", "http2", "grpc", "grpc-web")


@dataclass(frozen=True, slots=True)
class IstioPlace:
    """The section `istio` of cutset.yaml: where the system under test is, and how experiments get in."""

    namespaces: Annotated[tuple[Name, ...], Expect("at least one namespace", len)]
    context: str = ""  # of the kubeconfig; empty: the current one, or the pod's own account inside the cluster
    # To enter by a port-forward, unless `target.url` is given.
    gateway: Annotated[str, Expect("`namespace/service`", _NAMESPACED.fullmatch)] = ""
    gateway_port: Port = 80  # of that Service
    collector_namespace: Name = "cutset"

    @property
    def gateway_url(self) -> str:
        """Inside the cluster. Empty if no gateway is named."""
        namespace, _, service = self.gateway.partition("/")
        return f"http://{service}.{namespace}:{self.gateway_port}" if self.gateway else ""


@dataclass(frozen=True, slots=True)
class ClusterPort:
    number: int  # of the Service
    target: int  # of the pod; 0: by name, or unknown
    protocol: str  # http, http2, grpc, grpc-web, https, tls, tcp, udp; "": Istio has to guess by what is sent
    name: str = ""

    @property
    def reached(self) -> bool:
        """Whether plans can come with what is sent there: Envoy has to see requests."""
        return self.protocol in _HTTP or not self.protocol

    @property
    def http2(self) -> bool:
        return self.protocol in ("http2", "grpc", "grpc-web")


@dataclass(frozen=True, slots=True)
class ClusterPod:
    namespace: str
    name: str
    workload: str  # of the Deployment or the like that made it: what its sidecar calls itself
    ip: str
    ready: bool
    sidecar: bool  # has a container istio-proxy, so that plans can reach it
    ambient: bool = False
    proxy_image: str = ""


@dataclass(frozen=True, slots=True)
class ClusterService:
    namespace: str
    name: str  # of the Service; how points call its workloads is in ClusterView.names
    ports: tuple[ClusterPort, ...]
    pods: tuple[ClusterPod, ...]  # that its selector takes

    @property
    def host(self) -> str:
        return f"{self.name}.{self.namespace}.svc.cluster.local"

    @property
    def workloads(self) -> tuple[str, ...]:
        return tuple(sorted({pod.workload for pod in self.pods}))


@dataclass(frozen=True, slots=True)
class ClusterGateway:
    """Where users come in: pods that are Envoys without an application."""

    namespace: str
    name: str  # of the Service in front of its pods
    ports: tuple[ClusterPort, ...]
    pods: tuple[ClusterPod, ...]
    selector: tuple[tuple[str, str], ...]  # labels of its pods


@dataclass(frozen=True, slots=True)
class WorkloadName:
    """How points call a workload: as a Service that leads to it."""

    namespace: str
    workload: str
    name: str
    services: tuple[str, ...]  # all that lead to it
    pods: int = 0


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What discovery found in some namespaces."""

    services: tuple[ClusterService, ...]
    gateways: tuple[ClusterGateway, ...]  # that lead there, in whichever namespace they are
    istio_version: str = ""  # of istiod, else of its sidecars; empty: not found
    uncovered: tuple[tuple[str, str], ...] = ()  # what no plan reaches, with the reason
    names: tuple[WorkloadName, ...] = ()  # of all workloads with sidecars
    ambiguous: tuple[
        tuple[str, str], ...
    ] = ()  # names that mean several things, with what; no plan can tell them apart

    @property
    def pods(self) -> tuple[ClusterPod, ...]:
        """That serve something and have sidecars, each once."""
        served = {(pod.namespace, pod.name): pod for service in self.services for pod in service.pods if pod.sidecar}
        return tuple(pod for _, pod in sorted(served.items()))

    @property
    def replicas(self) -> dict[str, int]:
        """By the names that points use."""
        found: dict[str, int] = {}
        for each in self.names:
            found[each.name] = found.get(each.name, 0) + (each.pods if each.services else 0)
        return {name: number for name, number in found.items() if number}

    def names_in(self, namespace: str) -> dict[str, str]:
        """By workload, as its sidecars call themselves."""
        return {each.workload: each.name for each in self.names if each.namespace == namespace}

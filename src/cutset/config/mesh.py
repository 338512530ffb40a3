"""The `mesh` section of `cutset.yaml`, which is also a file of its own, `mesh.yaml`.

None stands for a key that was not given: defaults live in the model, once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import with_config

from cutset.config.yaml import STRICT, given, problem, repeated
from cutset.model.expect import (
    Address,
    CookieName,
    Expect,
    HeaderName,
    Name,
    NotNegative,
    Percent,
    Port,
    Positive,
    Seconds,
)
from cutset.model.impact import UserKey
from cutset.model.mesh import MeshService, MeshSpec


@dataclass(frozen=True, slots=True)
class _ServiceSection:
    protocol: Literal["http", "grpc"]
    replicas: Annotated[tuple[Address, ...], Expect("at least one replica", len)]
    port: Port | None = None
    retries: NotNegative | None = None
    timeout_seconds: Seconds | None = None
    outlier_detection: bool | None = None
    retry_budget_percent: Percent | None = None
    hedge_after_seconds: Seconds | None = None
    max_parallel: Positive | None = None
    fallback: Mapping[str, Literal["last-good", "last-good-or-empty"]] | None = None


@dataclass(frozen=True, slots=True)
class _UsersSection:
    header: HeaderName | None = None
    cookie: CookieName | None = None

    def __post_init__(self) -> None:
        if (self.header is None) == (self.cookie is None):
            raise problem("users are told apart by either a `header` or a `cookie`: give one of both")


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class MeshSection:
    services: Annotated[Mapping[str, _ServiceSection], Expect("at least one service", len)]
    entry: str | None = None
    edge_port: Port | None = None
    admin_port: Port | None = None
    marking_port: Port | None = None
    users: _UsersSection | None = None
    environment: Name | None = None
    collector: Address | None = None
    workers: Positive | None = None

    def __post_init__(self) -> None:
        if self.entry and self.entry not in self.services:
            names = ", ".join(f"`{name}`" for name in self.services)
            raise problem(f"the entry `{self.entry}` is none of the services {names}")
        ports = [
            self.edge_port,
            self.admin_port,
            self.marking_port,
            *(service.port for service in self.services.values()),
        ]
        for port in repeated(port for port in ports if port):
            raise problem(f"port {port} is given twice")


def mesh_of(section: MeshSection, environment: str = "local") -> MeshSpec:
    services = tuple(MeshService(name=name, **given(service)) for name, service in section.services.items())
    users = {"users": UserKey(**given(section.users))} if section.users else {}
    return MeshSpec(**({"environment": environment} | given(section) | {"services": services} | users))

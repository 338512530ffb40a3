"""What is drawn: services, and the calls between them."""

from dataclasses import dataclass

from cutset.model.call_tree import Component, Role


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    component: Component
    entry: bool  # called from outside
    calls: int
    failures: int


@dataclass(frozen=True, slots=True)
class Edge:
    caller: str
    callee: str
    apis: tuple[str, ...]
    calls: int
    failures: int
    role: Role

    @property
    def ends(self) -> tuple[str, str]:
        return self.caller, self.callee


@dataclass(frozen=True, slots=True)
class ServiceGraph:
    nodes: tuple[Node, ...]  # of different names
    edges: tuple[Edge, ...]
    highlighted: frozenset[tuple[str, str]] = frozenset()  # caller and callee: the critical workflow
    cut: frozenset[str] = frozenset()  # services to draw as broken


def failed_share(counted: Node | Edge) -> float:
    return min(1.0, counted.failures / counted.calls) if counted.calls else 0.0


def failure_mark(counted: Node | Edge) -> str:
    """The class that a share of failures gets; below a hundredth they are in the tooltip only."""
    share = failed_share(counted)
    return "many-failed" if share >= 0.1 else "some-failed" if share >= 0.01 else ""

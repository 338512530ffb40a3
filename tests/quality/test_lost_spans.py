"""Whichever spans of a trace are lost, no call is told that nobody made."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from cutset.lineage.call_tree import CallReader
from cutset.model.shape import LOST, ROOT
from cutset.model.span import SpanKind, SpanLabel

SERVICES = "abcd"


@dataclass
class Executed:
    """One call of a service, with those that it made."""

    service: str
    method: str
    calls: list["Executed"] = field(default_factory=list)


def executions() -> st.SearchStrategy[Executed]:
    methods = st.sampled_from(["Get", "Put"])
    leaves = st.builds(Executed, st.sampled_from(SERVICES), methods)
    return st.recursive(
        leaves, lambda inner: st.builds(Executed, st.sampled_from(SERVICES), methods, st.lists(inner, max_size=3))
    )


Spans = list[tuple[SpanLabel, int]]


def spans_of(top: Executed, draw: st.DrawFn) -> Spans:
    """As clients and servers tell of it: a method is one service's alone, its host may be told or not."""
    spans: Spans = [(SpanLabel("web", "page", SpanKind.SERVER, http_method="GET", http_route="/"), ROOT)]

    def add(call: Executed, caller: str, above: int) -> None:
        method = f"shop.{call.service}/{call.service}{call.method}"
        peer = draw(st.sampled_from(["", call.service]))
        spans.append((SpanLabel(caller, "call", SpanKind.CLIENT, rpc_method=method, peer=peer), above))
        caller_told = draw(st.sampled_from(["", caller, f"{call.service}.example.com"]))
        server = SpanLabel(call.service, "serve", SpanKind.SERVER, rpc_method=method, peer=caller_told)
        spans.append((server, len(spans) - 1))
        work = len(spans)
        spans.append((SpanLabel(call.service, "work"), work - 1))
        for inner in call.calls:
            add(inner, call.service, work)

    for call in top.calls:
        add(call, "web", 0)
    return spans


def true_calls(top: Executed, service: str) -> set[tuple[str, str]]:
    return {(service, call.service) for call in top.calls}.union(
        *(true_calls(call, call.service) for call in top.calls)
    )


@given(st.data(), st.lists(executions(), max_size=4))
def test_each_call_that_is_told_was_made(data: st.DataObject, calls: list[Executed]) -> None:
    request = Executed("web", "page", calls)
    spans = spans_of(request, data.draw)
    lost = data.draw(st.sets(st.integers(1, max(1, len(spans) - 1))))
    kept = [at for at in range(len(spans)) if at not in lost]
    place = {at: number for number, at in enumerate(kept)}
    labels = [spans[at][0] for at in kept]
    parents = [spans[at][1] if spans[at][1] < 0 else place.get(spans[at][1], LOST) for at in kept]

    tree = CallReader(labels).read(range(len(labels)), parents).tree

    told = {(caller.point.service, callee.point.service) for caller, callee in tree.edges()}
    assert {call for call in told if not call[1].startswith("unknown(")} <= true_calls(request, "web")
    servers = sum(label.kind is SpanKind.SERVER for label in labels) - 1
    assert sum(1 for _ in tree.callees()) >= servers  # and each that somebody served counts

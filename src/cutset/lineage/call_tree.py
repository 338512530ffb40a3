"""From the spans of a trace to the calls between services: the tree of what one request did.

A call may show as the client's span, as the server's, as both, and again as those of sidecars on both sides; the trace
data of real systems knows spans without a kind and sidecars that call both sides `client`. So what makes a call is
mostly that a span's service is another one than its parent's. Spans inside one service only connect calls.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.shape import ROOT
from cutset.model.span import UNKNOWN_SERVICE, SpanKind, SpanLabel

UNKNOWN = "unknown"  # a callee of which the trace tells nothing
MAX_DEPTH = 64  # calls nested deeper hang at this depth: comparing trees must not exhaust the stack

_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})
_CALLED = frozenset({SpanKind.SERVER, SpanKind.CONSUMER})
_CACHES = frozenset({"redis", "valkey", "memcached", "memcache", "hazelcast", "aerospike", "mc"})

# By which a server says no to this caller or to all. Other answers of 400 and more are about what was asked for: that
# there is no such user may be what the caller wanted to know.
_REFUSALS = frozenset({"401", "403", "407", "408", "425", "429"})
_RPC_ANSWERS = frozenset({"NOT_FOUND", "ALREADY_EXISTS", "INVALID_ARGUMENT", "OUT_OF_RANGE"})

# Istio's telemetry about the calls that it makes for its own ends, half of the spans of some meshes.
_MESH_SERVICES = frozenset({"istio-mixer", "istio-policy", "istio-telemetry"})
_MESH_CALL = re.compile(r"async outbound\|.*\bistio-(policy|telemetry|mixer)\b")


_GRPC_NAME = re.compile(r"^/?(?:(?:\w+\.)+\w+|[A-Z]\w*)/([A-Z]\w*)$")


@dataclass(frozen=True, slots=True)
class TraceReading:
    """What a trace says; of equal traces, `tree` is the same object."""

    entry: int  # the label of the span by which the request entered
    tree: CallTree
    whole: bool  # nothing is known to be missing
    headless: bool  # its beginning is missing, so that nobody knows what was asked for


@dataclass(slots=True)
class _Node:
    """A call under construction. Labels are numbers."""

    label: int
    position: int  # of its first span
    caller: int = -1  # its label; that of the request itself has none
    client: int = -1  # that of the client's span, if there is one
    failed: bool = False
    unanswered: bool = False  # so far there is only the client's span
    depth: int = 0
    too_deep: "_Node | None" = None  # at the greatest depth: its caller, which takes its calls
    calls: list["_Node"] = field(default_factory=list)


class CallReader:
    """Reads traces whose spans have these labels.

    What a label says is worked out once, and equal calls are one object: traces repeat themselves, also in part.
    """

    def __init__(self, labels: Sequence[SpanLabel]) -> None:
        # Who answers when an API calls what its client names so: that tells whom a call meant which reached nobody.
        self.answers: dict[tuple[Point, Point], set[Point]] = {}
        self._labels = labels
        self._service = [label.service for label in labels]
        self._calling = [label.kind in _CALLING for label in labels]
        self._called = [label.kind in _CALLED for label in labels]
        self._failed = [_failed(label) for label in labels]
        self._noise = [_is_noise(label) for label in labels]
        # Zipkin knows spans without a service, which belong to whatever they are in.
        self._nameless = [label.service in ("", UNKNOWN_SERVICE) and label.kind not in _CALLED for label in labels]
        self._calls: dict[tuple[int, int, bool, bool], CallTree] = {}  # without what happened inside them
        self._numbers: dict[tuple[int, ...], int] = {}
        self._trees: list[CallTree] = []

    def read(self, labels: Sequence[int], parents: Sequence[int]) -> TraceReading:
        """Labels and positions are as in `Shape`.

        A call whose caller was never exported hangs under the request itself: leaving it out would hide what was relied
        on.
        """
        request, whole, headless = self._request(labels, parents)
        numbers: dict[int, int] = {}  # of finished calls
        for node in reversed(_callers_first(request)):  # not by recursion, whatever the depth
            inside = sorted([numbers.pop(id(call)) for call in node.calls])
            key = (node.label, node.client, node.failed, node.unanswered, *inside)
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._trees)
                calls = tuple(sorted(self._trees[inner] for inner in inside))
                self._trees.append(replace(self._call(node), calls=calls))
                self._note_answers(node)
            numbers[id(node)] = number
        return TraceReading(request.label, self._trees[numbers[id(request)]], whole, headless)

    def calls_in_order(self, labels: Sequence[int], parents: Sequence[int]) -> tuple[tuple[str, CallTree], ...]:
        """The calling service and the call, without what happened inside it, in the order in which calls began."""
        calls = sorted(_callers_first(self._request(labels, parents)[0]), key=lambda node: node.position)
        return tuple((self._service[node.caller], self._call(node)) for node in calls if node.caller >= 0)

    def _call(self, node: _Node) -> CallTree:
        key = (node.label, node.client, node.failed, node.unanswered)
        if key not in self._calls:
            label = self._labels[node.label]
            client = self._labels[node.client] if node.client >= 0 else None
            point = _remote_point(label) if node.unanswered else Point(label.service or UNKNOWN, api_of(label, client))
            component, framework = component_of(label)
            if component is Component.UNKNOWN and client is not None:
                component, framework = component_of(client)
            self._calls[key] = CallTree(point, node.failed, component, (), framework)
        return self._calls[key]

    def _note_answers(self, caller: _Node) -> None:
        for call in caller.calls:
            if call.client >= 0 and not call.unanswered:
                named = _remote_point(self._labels[call.client])
                self.answers.setdefault((self._call(caller).point, named), set()).add(self._call(call).point)

    def _request(self, labels: Sequence[int], parents: Sequence[int]) -> tuple[_Node, bool, bool]:
        """The request with all its calls, whether it is whole, and whether it is headless."""
        children: list[list[int]] = [[] for _ in labels]
        roots = []
        for position, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(position)
            else:
                roots.append(position)
        first = min(roots, key=lambda root: (self._noise[labels[root]], parents[root] != ROOT, root), default=0)
        begins = bool(roots) and parents[first] == ROOT
        passed_on = self._passed_on(first, labels, children) if begins else [first]
        entry = passed_on[-1]
        request = _Node(labels[entry], entry, failed=any(self._failed[labels[each]] for each in passed_on))
        done = bytearray(len(labels))
        for position in passed_on:
            done[position] = True
        self._collect(children[entry], request, labels, children, done)
        # What hangs under lost parents; then, in a malformed trace, what no root leads to.
        for position in (*roots, *range(len(labels))):
            if not done[position]:
                within = request
                if not self._called[labels[position]]:
                    # Made by a call of which nothing else is known; what it calls, the request has called somehow.
                    within = _Node(labels[position], position, calls=request.calls)
                self._collect([position], within, labels, children, done)
        alone = sum(not self._noise[labels[root]] for root in roots) == 1
        whole = alone and (begins or self._called[labels[entry]])
        return request, whole, not begins and not whole

    def _passed_on(self, entry: int, labels: Sequence[int], children: Sequence[Sequence[int]]) -> list[int]:
        """The spans by which the request entered, the last of them that of the first service.

        A load generator or a gateway that only passes the request on is not part of what is looked at.
        """
        passed_on = [entry]
        while self._calling[labels[entry]]:
            service = self._service[labels[entry]]
            inside = [
                child
                for child in children[entry]
                if not self._noise[labels[child]] and (children[child] or self._service[labels[child]] != service)
            ]
            if len(inside) != 1 or inside[0] in passed_on or self._service[labels[inside[0]]] == service:
                break
            (entry,) = inside
            passed_on.append(entry)
        return passed_on

    def _collect(
        self,
        start: Iterable[int],
        request: _Node,
        labels: Sequence[int],
        children: Sequence[Sequence[int]],
        done: bytearray,
    ) -> None:
        """Adds the calls that these spans and those below them tell of."""
        # Each with the call that it is part of, and the call that is being made there, if any.
        pending: list[tuple[int, _Node, _Node | None]] = [(position, request, None) for position in start]
        while pending:
            position, within, outgoing = pending.pop()
            if done[position]:
                continue
            done[position] = True
            label = labels[position]
            elsewhere = self._service[label] != self._service[within.label] and not self._nameless[label]
            if self._noise[label]:
                outgoing = None
            elif elsewhere or (outgoing is not None and self._called[label]):
                within, outgoing = self._answered(within, outgoing, label, position), None
            elif self._calling[label]:
                outgoing = self._called_from(within, outgoing, label, position)
            pending.extend([(child, within, outgoing) for child in children[position]])

    def _called_from(self, within: _Node, outgoing: _Node | None, label: int, position: int) -> _Node:
        if outgoing is None:
            outgoing = self._made(within, label, position)
            outgoing.client, outgoing.unanswered = label, True
        elif outgoing.unanswered and _remote_point(self._labels[outgoing.client]).service == UNKNOWN:
            outgoing.label = outgoing.client = label  # the span of a library, inside of which the real client's is
        return outgoing

    def _answered(self, within: _Node, outgoing: _Node | None, label: int, position: int) -> _Node:
        if outgoing is None:
            return self._made(within, label, position)
        if self._labels[label].kind is SpanKind.CONSUMER:  # the queue answered the caller, and called the consumer
            return self._made(outgoing, label, position)
        if not outgoing.unanswered:  # an earlier attempt of the same call: the last was taken up first
            return self._made(within, label, position)
        client = self._labels[outgoing.client]
        outgoing.label, outgoing.unanswered = label, False
        if not (client.http_status or client.rpc_status):  # else it has said itself whether the call failed
            outgoing.failed = outgoing.failed or self._failed[label]
        return outgoing

    def _made(self, caller: _Node, label: int, position: int) -> _Node:
        caller = caller.too_deep or caller
        call = _Node(label, position, caller.label, failed=self._failed[label], depth=caller.depth + 1)
        if call.depth == MAX_DEPTH:
            call.too_deep = caller
        caller.calls.append(call)
        return call


def api_of(label: SpanLabel, client: SpanLabel | None = None) -> str:
    """What a server's span says was called; what only the client knows, its span adds."""
    halves = (label, client) if client is not None else (label,)
    if rpc_method := _first(half.rpc_method for half in halves):
        return rpc_method.rpartition("/")[2] or rpc_method
    if path := label.http_route or label.url_path or (client.url_path if client is not None else ""):
        return f"{_first(half.http_method for half in halves)} {path}".lstrip()
    # Jaeger's clients tell of gRPC by the span's name alone: `/user.User/CheckUser` is `CheckUser`, as everywhere.
    return _GRPC_NAME.sub(r"\1", label.name) or UNKNOWN


def component_of(label: SpanLabel) -> tuple[Component, str]:
    """What kind of thing was called, and by or on what (CAST §3.4.2's component and framework)."""
    if system := label.db_system.lower():
        return (Component.CACHE if system in _CACHES else Component.DATABASE), system
    if label.messaging_system:
        return Component.QUEUE, label.messaging_system.lower()
    if label.rpc_system or label.rpc_method:
        return Component.RPC, label.rpc_system.lower()
    if label.http_method or label.http_route or label.url_path:
        return Component.HTTP, "http"
    return Component.UNKNOWN, ""


def _remote_point(client: SpanLabel) -> Point:
    """Whom a client's span speaks of: a data store, a queue, or a service that exports nothing."""
    if client.db_system:
        operation = " ".join(filter(None, (client.db_operation, client.db_collection)))
        return Point(client.peer or client.db_system, operation or client.name or UNKNOWN)
    if client.messaging_system:
        operation = " ".join(filter(None, (client.messaging_operation or "publish", client.messaging_destination)))
        return Point(client.peer or client.messaging_system, operation)
    return Point(client.peer or UNKNOWN, api_of(client))


def _callers_first(request: _Node) -> list[_Node]:
    nodes, pending = [], [request]
    while pending:
        node = pending.pop()
        nodes.append(node)
        pending.extend(node.calls)
    return nodes


def _failed(label: SpanLabel) -> bool:
    if label.error and len(label.http_status) == 3 and label.http_status.startswith("4"):
        return label.http_status in _REFUSALS
    return label.error and label.rpc_status not in _RPC_ANSWERS


def _is_noise(label: SpanLabel) -> bool:
    return label.service in _MESH_SERVICES or (
        label.name.startswith("async ") and _MESH_CALL.match(label.name) is not None
    )


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")

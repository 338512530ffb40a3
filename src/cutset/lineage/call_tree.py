"""From the spans of a trace to the calls between services: the tree of what one request did.

A call may show as the client's span, as the server's, as both, and again as those of sidecars on both sides; the trace
data of real systems knows spans without a kind and sidecars that call both sides `client`. So what makes a call is
mostly that a span's service is another one than its parent's. Spans inside one service only connect calls.

A sidecar names the service beside which it runs, and what is right below an inbound one's span is that service itself,
whatever that calls itself. The sidecar's name stands for both: by it, plans address the service.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cutset.lineage.api_names import api_of, component_of, remote_point
from cutset.lineage.orphans import placed
from cutset.model.call_tree import UNKNOWN, CallTree, Component
from cutset.model.point import Point
from cutset.model.shape import ROOT
from cutset.model.span import UNKNOWN_SERVICE, SpanKind, SpanLabel

MAX_DEPTH = 64  # calls nested deeper hang at this depth: comparing trees must not exhaust the stack

_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})
_CALLED = frozenset({SpanKind.SERVER, SpanKind.CONSUMER})
_STORES = frozenset({Component.DATABASE, Component.CACHE, Component.QUEUE})

# By which a server says no to this caller or to all. Other answers of 400 and more are about what was asked for: that
# there is no such user may be what the caller wanted to know.
_REFUSALS = frozenset({"401", "403", "407", "408", "425", "429"})
_RPC_ANSWERS = frozenset({"NOT_FOUND", "ALREADY_EXISTS", "INVALID_ARGUMENT", "OUT_OF_RANGE"})

# Istio's telemetry about the calls that it makes for its own ends, half of the spans of some meshes.
_MESH_SERVICES = frozenset({"istio-mixer", "istio-policy", "istio-telemetry"})
_MESH_CALL = re.compile(r"async outbound\|.*\bistio-(policy|telemetry|mixer)\b")


@dataclass(frozen=True, slots=True)
class TraceReading:
    """What a trace says; of equal traces, `tree` is the same object."""

    entry: int  # the label of the span by which the request entered
    tree: CallTree
    whole: bool  # nothing is known to be missing
    headless: bool  # its beginning is missing, so that nobody knows what was asked for
    joined: int = 0  # spans without a parent in the trace whose caller is proven all the same


@dataclass(slots=True)
class _Node:
    """A call under construction. Labels are numbers."""

    label: int  # -1: an execution of which only calls are known that it made
    position: int  # of its first span
    names: tuple[str, ...]  # of its service: the sidecar's, the application's own
    client: int = -1  # the label of the client's span, if there is one
    inner: int = -1  # that of the application's own span, inside of its sidecar's
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
        # By services' own names: what the sidecars beside them call them.
        self.aliases: dict[str, set[str]] = {}
        self._labels = labels
        self._service = [label.service for label in labels]
        self._calling = [label.kind in _CALLING for label in labels]
        self._called = [label.kind in _CALLED for label in labels]
        self._inbound = [bool(label.sidecar) and label.kind is SpanKind.SERVER for label in labels]
        self._outbound = [bool(label.sidecar) and label.kind is SpanKind.CLIENT for label in labels]
        self._failed = [_failed(label) for label in labels]
        self._noise = [_is_noise(label) for label in labels]
        # Zipkin knows spans without a service, which belong to whatever they are in.
        self._nameless = [label.service in ("", UNKNOWN_SERVICE) and label.kind not in _CALLED for label in labels]
        # Who is called, such a client does not know.
        self._vague = [not label.peer and component_of(label)[0] not in _STORES for label in labels]
        self._calls: dict[tuple[int, int, int, bool, str], CallTree] = {}  # without what happened inside them
        self._numbers: dict[tuple[object, ...], int] = {}
        self._trees: list[CallTree] = []

    def read(self, labels: Sequence[int], parents: Sequence[int]) -> TraceReading:
        """Labels and positions are as in `Shape`. Of a call whose parent is lost see `orphans`."""
        read = self._read_spans(labels, parents)
        numbers: dict[int, int] = {}  # of finished calls
        for orphan in read.orphans:
            self._number(orphan, numbers)
        self._number(read.request, numbers, read.orphans)
        tree = self._trees[numbers[id(read.request)]]
        return TraceReading(read.request.label, tree, read.whole, read.headless, read.joined)

    def _number(self, top: _Node, numbers: dict[int, int], orphans: Sequence[_Node] = ()) -> None:
        """Gives equal calls the same number, and a tree."""
        for node in reversed(_callers_first(top)):  # not by recursion, whatever the depth
            inside = sorted([numbers.pop(id(call)) for call in node.calls])
            beside = sorted([numbers.pop(id(orphan)) for orphan in orphans]) if node is top else []
            key = (*self._key(node), *inside, -1, *beside)
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._trees)
                calls, lost = (tuple(sorted(self._trees[each] for each in some)) for some in (inside, beside))
                self._trees.append(replace(self._call(node), calls=calls, orphans=lost))
                self._note_answers(node)
            numbers[id(node)] = number

    def calls_in_order(self, labels: Sequence[int], parents: Sequence[int]) -> tuple[tuple[str, CallTree], ...]:
        """The calling service and the call, without what happened inside it, in the order in which calls began.

        The name of an unknown caller is empty.
        """
        read = self._read_spans(labels, parents)
        made = [(orphan, "") for orphan in read.orphans if self._call(orphan).point.api != UNKNOWN]
        for top in (read.request, *read.orphans):
            made += [(call, node.names[0]) for node in _callers_first(top) for call in node.calls]
        return tuple((caller, self._call(call)) for call, caller in sorted(made, key=lambda each: each[0].position))

    def _key(self, node: _Node) -> tuple[int, int, int, bool, str]:
        # What a label does not tell: whose the callee is that exports nothing, who made calls for somebody unknown.
        told_by = node.names[0] if node.unanswered or node.label < 0 else ""
        return node.label, node.client, node.inner, node.failed, told_by

    def _call(self, node: _Node) -> CallTree:
        key = self._key(node)
        if key not in self._calls:
            self._calls[key] = self._as_tree(node)
        return self._calls[key]

    def _as_tree(self, node: _Node) -> CallTree:
        service = node.names[0]
        if node.label < 0:
            return CallTree(Point(service, UNKNOWN))
        halves = [self._labels[label] for label in (node.inner, node.label, node.client) if label >= 0]
        point = remote_point(halves[0], service) if node.unanswered else Point(service or UNKNOWN, api_of(*halves))
        found = (kind for kind in map(component_of, halves) if kind[0] is not Component.UNKNOWN)
        component, framework = next(found, (Component.UNKNOWN, ""))
        return CallTree(point, node.failed, component, (), framework)

    def _note_answers(self, caller: _Node) -> None:
        for call in caller.calls:
            if call.client >= 0 and not call.unanswered:
                named = remote_point(self._labels[call.client], caller.names[0])
                self.answers.setdefault((self._call(caller).point, named), set()).add(self._call(call).point)

    def _read_spans(self, labels: Sequence[int], parents: Sequence[int]) -> "_Spans":
        roots = [position for position, parent in enumerate(parents) if parent < 0]
        first = min(roots, key=lambda root: (self._noise[labels[root]], parents[root] != ROOT, root), default=0)
        begins = bool(roots) and parents[first] == ROOT
        own = [root for root in roots if not self._noise[labels[root]]]
        halves = joined = 0
        callers: dict[int, str] = {}
        if len(own) > 1:
            noise = {position for position, label in enumerate(labels) if self._noise[label]}
            found = placed([self._labels[label] for label in labels], parents, first, noise)
            halves, joined, callers = found.halves, found.halves + found.inferred, found.callers
            parents = found.parents
        children: list[list[int]] = [[] for _ in labels]
        for position, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(position)
        passed_on = self._passed_on(first, labels, children) if begins else [first]
        entry = passed_on[-1]
        failed = any(self._failed[labels[each]] for each in passed_on)
        request = _Node(labels[entry], entry, (self._service[labels[entry]],), failed=failed)
        done = bytearray(len(labels))
        for position in passed_on:
            done[position] = True
        self._collect([(child, request, None, labels[entry]) for child in children[entry]], labels, children, done)
        orphans = self._orphans(labels, parents, callers, children, done)
        whole = len(own) - halves == 1 and (begins or self._called[labels[entry]])
        return _Spans(request, orphans, whole, not begins and not whole, joined)

    def _orphans(
        self,
        labels: Sequence[int],
        parents: Sequence[int],
        callers: dict[int, str],
        children: Sequence[Sequence[int]],
        done: bytearray,
    ) -> list[_Node]:
        """What hangs under lost parents; then, in a malformed trace, what no root leads to.

        Of a service that worked for somebody unknown there is one, since nobody knows how often it did.
        """
        called: list[_Node] = []
        working: dict[str, _Node] = {}
        unknown = _Node(-1, -1, ("",))
        roots = [position for position, parent in enumerate(parents) if parent < 0]
        for position in (*roots, *range(len(labels))):
            label = labels[position]
            if done[position]:
                continue
            if self._called[label] and position not in callers and not self._noise[label]:
                done[position] = True
                called.append(self._made(unknown, label, position))
                self._collect(
                    [(child, called[-1], None, label) for child in children[position]], labels, children, done
                )
            else:
                service = callers.get(position, self._service[label])
                within = working.setdefault(service, _Node(-1, position, (service,), depth=1))
                self._collect([(position, within, None, -1)], labels, children, done)
        return [*called, *(node for node in working.values() if node.calls)]

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
        pending: list[tuple[int, _Node, _Node | None, int]],
        labels: Sequence[int],
        children: Sequence[Sequence[int]],
        done: bytearray,
    ) -> None:
        """Adds the calls that these spans and those below them tell of.

        Each comes with the call that it is part of, the call that is being made there, if any, and the label above it.
        """
        while pending:
            position, within, outgoing, above = pending.pop()
            if done[position]:
                continue
            done[position] = True
            label = labels[position]
            beside = above >= 0 and self._inbound[above] and outgoing is None and not self._labels[label].sidecar
            if self._noise[label]:
                outgoing = None
            elif beside or self._outbound[label]:
                outgoing = self._own(within, outgoing, label, position)
            elif self._inbound[label] or self._is_elsewhere(label, within) or (outgoing and self._called[label]):
                within, outgoing = self._answered(within, outgoing, label, position), None
            elif self._calling[label]:
                outgoing = self._called_from(within, outgoing, label, position)
            pending.extend([(child, within, outgoing, label) for child in children[position]])

    def _is_elsewhere(self, label: int, within: _Node) -> bool:
        return self._service[label] not in within.names and not self._nameless[label]

    def _own(self, within: _Node, outgoing: _Node | None, label: int, position: int) -> _Node | None:
        """A service right beside its sidecar, or the sidecar that it calls others by: they may call it differently."""
        if self._is_elsewhere(label, within):
            within.names = (*within.names, self._service[label])
            own, beside = (within.names[0], label) if self._outbound[label] else (self._service[label], within.label)
            if beside >= 0 and self._labels[beside].sidecar:
                self.aliases.setdefault(own, set()).add(self._service[beside])
        if self._calling[label]:
            return self._called_from(within, outgoing, label, position)
        if within.inner < 0:
            within.inner = label
        return outgoing

    def _called_from(self, within: _Node, outgoing: _Node | None, label: int, position: int) -> _Node:
        if outgoing is None:
            outgoing = self._made(within, label, position)
            outgoing.names, outgoing.client, outgoing.unanswered = within.names, label, True
        elif outgoing.unanswered and self._vague[outgoing.client]:
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
        outgoing.label, outgoing.unanswered, outgoing.names = label, False, (self._service[label],)
        if not (client.http_status or client.rpc_status):  # else it has said itself whether the call failed
            outgoing.failed = outgoing.failed or self._failed[label]
        return outgoing

    def _made(self, caller: _Node, label: int, position: int) -> _Node:
        caller = caller.too_deep or caller
        names = (self._service[label],)
        call = _Node(label, position, names, failed=self._failed[label], depth=caller.depth + 1)
        if call.depth == MAX_DEPTH:
            call.too_deep = caller
        caller.calls.append(call)
        return call


@dataclass(frozen=True, slots=True)
class _Spans:
    """A trace, read but not yet compared with others."""

    request: _Node
    orphans: list[_Node]
    whole: bool
    headless: bool
    joined: int


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

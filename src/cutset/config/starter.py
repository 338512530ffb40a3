"""The first cutset.yaml for a system in Istio: what was found in the cluster, and comments that say what to change."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutset.inject.istio.routes import RoutedRequest
from cutset.model.cluster import ClusterGateway, ClusterView, IstioPlace

SHOWN_REQUESTS = 12  # more are mostly variants of one another, and each costs time
_FRONTS = re.compile(r"front|web|gateway|edge|ui\b|bff|portal|api")  # what services that users call are called

# What is answered without asking any other service, or changes who one is.
_NO_USE = re.compile(r"log-?(in|out)|sign-?(in|up|out)|static|assets|favicon|robots|health|ready|metrics")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where experiments get in: by a gateway, or else at a service, from inside the cluster."""

    gateway: str = ""
    port: int = 80
    url: str = ""


def is_of_no_use(path: str) -> bool:
    """As far as its name tells: answered without any other service, or about who one is."""
    return bool(_NO_USE.search(path))


def likely_front(names: Sequence[str]) -> str:
    """The service that users call, by what such services are called."""
    return min(names, key=lambda name: (not _FRONTS.search(name), name))


def entry_of(view: ClusterView) -> Entry | None:
    """The likeliest one; None if there is nothing to call."""
    ready = [each for each in view.gateways if each.ports and any(pod.ready for pod in each.pods)]
    for gateway in sorted(ready, key=lambda each: ("ingress" not in each.name, each.namespace, each.name)):
        if port := _http_port(gateway):
            return Entry(f"{gateway.namespace}/{gateway.name}", port)
    served = [each for each in view.services if each.pods and any(port.reached for port in each.ports)]
    for service in sorted(served, key=lambda each: (not _FRONTS.search(each.name), each.namespace, each.name)):
        number = next(port.number for port in service.ports if port.reached)
        return Entry(url=f"http://{service.name}.{service.namespace}:{number}")
    return None


def _http_port(gateway: ClusterGateway) -> int:
    ports = [port.number for port in gateway.ports if port.protocol in ("http", "http2")]
    return 80 if 80 in ports else next(iter(ports), 0)


def starter_text(
    place: IstioPlace,
    entry: Entry,
    environment: str,
    requests: Sequence[RoutedRequest],
    view: ClusterView,
    *,
    known: Sequence[str] = (),
) -> str:
    """`known` are lines of requests that are better than what routes tell."""
    names = " ".join(f"-n {name}" for name in place.namespaces)
    lines = [
        f"# Written by `cutset init` from what runs in {', '.join(place.namespaces)}. Read the comments; then",
        f"# `cutset install {names}`, `cutset doctor` and `cutset explore`.",
        "istio:",
        f"  namespaces: {json.dumps(list(place.namespaces))}",
        *([f"  context: {json.dumps(place.context)}"] if place.context else []),
        *_entered(entry),
        "target:",
        f"  environment: {json.dumps(environment)}  # part of every signature: as `cutset install` was told",
        *_addressed(entry),
        "",
        "requests:  # what users do; each is explored by itself",
        *(known or _asked(requests)),
    ]
    if view.uncovered:
        lines += ["", "# No plan reaches these, so that nothing is injected there:"]
        lines += [f"# - {what}: {reason}" for what, reason in view.uncovered]
    return "\n".join(lines) + "\n"


def _entered(entry: Entry) -> list[str]:
    if not entry.gateway:
        return []
    return [
        f"  gateway: {entry.gateway}  # experiments enter here, by a port-forward to one of its pods",
        f"  gateway_port: {entry.port}",
    ]


def _addressed(entry: Entry) -> list[str]:
    if entry.gateway:
        return ["  # url: http://shop.example.com  # instead of the port-forward: the address of that gateway"]
    return [
        "  # No ingress gateway leads here. So this is a guess of the service that users call, and experiments must",
        "  # run inside the cluster (`cutset explore --in-cluster`).",
        f"  url: {entry.url}",
    ]


def _asked(requests: Sequence[RoutedRequest]) -> Iterator[str]:
    """Those that will likely be answered as they stand; the others as comments, to be completed by hand."""
    whole = [each for each in requests if _stands(each)]
    others = [each for each in requests if each not in whole and (whole or each.path != "/")]
    if not requests:
        yield "  # No route says which there are: write down those that matter, with what a good answer has."
    hosts = sorted({each.host for each in requests})
    for each in whole[:SHOWN_REQUESTS] or [RoutedRequest("/", host=next(iter(hosts), ""))]:
        yield from _request(each, f" at {each.host}" if len(hosts) > 1 and each.host else "")
    others = [*whole[SHOWN_REQUESTS:], *others]
    if others:
        yield "  # Others that the routes name, or what their paths begin with: complete those that matter."
    for each in others[:SHOWN_REQUESTS]:
        for line in _request(each, f" at {each.host}" if each.host else ""):
            yield f"  # {line.removeprefix('  ')}"
    if left := others[SHOWN_REQUESTS:]:
        yield f"  # {len(left)} more: {', '.join(f'{each.method} {each.path}' for each in left[:20])}"


def _stands(each: RoutedRequest) -> bool:
    return each.exact and each.method == "GET" and not is_of_no_use(each.path)


def _request(each: RoutedRequest, suffix: str) -> Iterator[str]:
    if each.source:
        yield f"  # {'in' if each.exact else 'the beginning of paths in'} {each.source}"
    yield f"  - path: {json.dumps(each.path)}"
    if suffix:
        yield f"    name: {json.dumps(f'{each.method} {each.path}{suffix}')}"
    if each.method != "GET":
        yield f"    method: {each.method}"
        yield "    json: {}  # or `form`, `body`: what it sends"
    if each.host:
        yield f"    headers: {{host: {json.dumps(each.host)}}}"
    yield "    # expect: {status: [200], text: [a word that only a good answer has]}"

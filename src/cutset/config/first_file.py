"""The first cutset.yaml of a system that is not in Istio: where it is entered, and requests out of what people have."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutset.config.starter import SHOWN_REQUESTS, is_of_no_use, likely_front
from cutset.model.expect import split_address
from cutset.model.mesh import MeshSpec
from cutset.model.request import Request, Step
from cutset.model.survey import Survey
from cutset.model.target import Receiver
from cutset.workload.sources.proposal import ProposedRequest

_HTTP_CLASS = re.compile(r"([A-Z]+) (/\S*)")
_VARYING = re.compile(r"[{}*<>]|/:")


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """Where experiments enter, and what is known of the mesh there."""

    url: str
    environment: str = "local"
    collector: str = ""  # host:port to which the mesh sends its spans, if it is not the usual one
    why: str = ""  # what speaks for the URL


def entry_service(mesh: MeshSpec) -> str:
    """The service that users call, or likely do."""
    http = [each.name for each in mesh.services if each.protocol == "http"]
    return mesh.entry or likely_front(http or [each.name for each in mesh.services])


def entry_by(mesh: MeshSpec, port: int) -> LocalEntry:
    usual = Receiver()
    told = split_address(mesh.collector) if mesh.collector else (usual.host, usual.grpc_port)
    collector = mesh.collector if told != (usual.host, usual.grpc_port) else ""
    why = f"the mesh's own address of {entry_service(mesh)}"
    why += "" if mesh.entry else ", which is a guess: `entry` in mesh.yaml says what users call"
    return LocalEntry(f"http://127.0.0.1:{port}", mesh.environment, collector, why)


def traced_requests(survey: Survey) -> tuple[ProposedRequest, ...]:
    """Those classes of stored traces that have a path, the most complex first."""
    classes = sorted(survey.classes.values(), key=lambda each: -each.representative.score)
    return tuple(
        ProposedRequest(
            Request(each.name, Step(found[1], found[2])),
            f"{each.traces} traces, by {each.service}",
            held_back="it writes"
            if found[1] != "GET"
            else "put a value into its path"
            if _VARYING.search(found[2])
            else "",
        )
        for each in classes
        if (found := _HTTP_CLASS.fullmatch(each.name))
    )


def first_text(entry: LocalEntry, requests: Sequence[ProposedRequest], source: str, *, as_source: bool) -> str:
    """`as_source`: the requests stay where they are, and the file names them."""
    origin = f" from {source}" if source else ""
    lines = [
        f"# Written by `cutset init`{origin}. Read the comments; then `cutset doctor` and `cutset explore`.",
        "target:",
        f"  url: {json.dumps(entry.url)}{f'  # {entry.why}' if entry.why else ''}",
        f"  environment: {json.dumps(entry.environment)}  # part of every signature: as the mesh was told",
        *_collector(entry),
        "",
        "requests:  # what users do; each is explored by itself",
        *request_lines(requests, source, as_source=as_source),
    ]
    return "\n".join(lines) + "\n"


def request_lines(requests: Sequence[ProposedRequest], source: str, *, as_source: bool) -> list[str]:
    return [*(_named(requests, source) if as_source else _written(requests))]


def _comment(text: str) -> str:
    """On one line, whatever others wrote there."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))


def _collector(entry: LocalEntry) -> list[str]:
    if not entry.collector:
        return []
    host, port = split_address(entry.collector)
    return [f"collector: {{host: {json.dumps(host)}, grpc_port: {port}}}  # where mesh.yaml sends spans"]


def _named(requests: Sequence[ProposedRequest], source: str) -> Iterator[str]:
    yield f"  - source: {json.dumps(source)}"
    yield "    only:  # those that matter; each with what must come before it"
    chosen = [each for each in requests if not is_of_no_use(each.request.name)][:SHOWN_REQUESTS] or requests[:1]
    for each in requests:
        noted = _comment("; ".join(filter(None, (each.about, each.doubt))))
        about = f"  # {noted}" if noted else ""
        yield f"      {'' if each in chosen else '# '}- {json.dumps(each.request.name)}{about}"
    yield "    # expect: {max_seconds: 5}"


def _written(requests: Sequence[ProposedRequest]) -> Iterator[str]:
    good = [each for each in requests if not each.held_back and not is_of_no_use(each.request.name)]
    chosen = sorted(good, key=lambda each: bool(each.doubt))[:SHOWN_REQUESTS]
    for each in chosen or [ProposedRequest(Request("GET /", Step("GET", "/")))]:
        yield from _request(each)
    others = [each for each in requests if each not in chosen]
    if others:
        yield "  # Others: complete those that matter. Experiments send each of them many times."
    for each in others:
        yield from (f"  # {line.removeprefix('  ')}" for line in _request(each))


def _request(each: ProposedRequest) -> Iterator[str]:
    step = each.request.step
    assert isinstance(step, Step)
    if noted := _comment("; ".join(filter(None, (each.about, each.held_back, each.doubt)))):
        yield f"  # {noted}"
    yield f"  - path: {json.dumps(step.path)}"
    if each.request.name != f"{step.method} {step.path.partition('?')[0]}":
        yield f"    name: {json.dumps(each.request.name)}"
    if step.method != "GET":
        yield f"    method: {step.method}"
    if step.headers:
        yield f"    headers: {json.dumps(dict(step.headers))}"
    for name in ("json", "form", "body"):
        if (value := getattr(step, name)) is not None:
            yield f"    {name}: {json.dumps(value)}"
    if not each.held_back:
        yield "    # expect: {status: [200], text: [a word that only a good answer has]}"

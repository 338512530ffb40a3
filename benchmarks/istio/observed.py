"""What a check looks at: answers of the shop, what its services saw, and what the sidecars say of themselves."""

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.istio.ground import SHOP, Ground, plan, private_key
from benchmarks.istio.spans import asked_with_spans
from benchmarks.istio.traffic import Answer, Question, ask_all

from cutset.model.span import Span

ADMIN = "http://127.0.0.1:15000"  # of a sidecar, inside its pod


def ask(at: Ground, headers: Mapping[str, str] | None = None, path: str = "/") -> Answer:
    return ask_many(at, [headers or {}], path)[0]


def ask_many(at: Ground, all_headers: list[Mapping[str, str]], path: str = "/") -> list[Answer]:
    return asyncio.run(ask_all(at.gateway, [partial(Question, headers, path) for headers in all_headers], 1))


def planned(at: Ground, *faults: str) -> Answer:
    return ask(at, plan(private_key(at), *faults))


def proven(at: Ground, *faults: str, least: int = 3) -> tuple[Answer, list[Span]]:
    """With the spans of that request."""
    headers = plan(private_key(at), *faults)
    answers, spans = asked_with_spans(at, at.gateway, [partial(Question, headers)], least)
    trace = headers["traceparent"].split("-")[1]
    return answers[0], [span for span in spans if span.trace_id == trace]


def called(answer: Answer) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the entry says of its two calls: of the backend, and of the quote."""
    backend, quote = json.loads(answer.body)["called"]
    return backend, quote


def seen_by_services(answer: Answer) -> Iterator[dict[str, str]]:
    """The headers that got to the applications behind the sidecars."""
    entry = json.loads(answer.body)
    yield entry["saw"]
    backend = entry["called"][0]
    if "body" in backend:
        yield backend["body"]["saw"]


def attempts(spans: list[Span], service: str) -> list[str]:
    return sorted(str(each.attributes["cutset.attempt"]) for each in spans if _service(each) == service)


def _service(span: Span) -> str:
    return str(span.attributes.get("cutset.service", ""))


def sidecars(at: Ground, *spaces: str) -> list[tuple[str, str]]:
    """Namespace and name of each pod that has one."""
    return [
        (pod["metadata"]["namespace"], pod["metadata"]["name"])
        for space in spaces or (SHOP,)
        for pod in at.api.get(f"/api/v1/namespaces/{space}/pods")["items"]
        if "deletionTimestamp" not in pod["metadata"]
    ]


def asked_sidecar(pod: tuple[str, str], path: str) -> str:
    command = ["ip", "netns", "exec", "_".join(pod), "curl", "--silent", "--max-time", "20", f"{ADMIN}{path}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def has_filter(pod: tuple[str, str]) -> bool:
    return "cutset." in asked_sidecar(pod, "/config_dump?resource=dynamic_listeners")


def complaints(at: Ground, pod: tuple[str, str]) -> list[str]:
    """Configuration that a sidecar refused, and errors of our Lua, which only its log tells."""
    filtered = "/stats?filter=(update_rejected|listener_create_failure)"
    refused = [line for line in asked_sidecar(pod, filtered).splitlines() if not line.endswith(": 0")]
    log = at.place.log(f"{'_'.join(pod)}_istio-proxy").read_text(errors="replace")
    return refused + [line for line in log.splitlines() if "script log" in line]


def ejected(at: Ground) -> int:
    """Replicas of the backend that the entry's sidecar does not ask any more."""
    (entry,) = [pod for pod in sidecars(at) if pod[1].startswith("frontend")]
    lines = asked_sidecar(entry, "/clusters").splitlines()
    return sum("|backend." in line and "health_flags::/failed_outlier_check" in line for line in lines)

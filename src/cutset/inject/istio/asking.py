"""Asks pods through the relay of our collector, and sees whose spans come to it."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp

from cutset.errors import TargetError
from cutset.inject.istio.collector import COLLECTOR, LABELS, RELAY_PORT
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE
from cutset.inject.probe import PROBE_HEADER, probe_headers
from cutset.kubernetes.client import Cluster
from cutset.model.cluster import ClusterPort, ClusterService, Resource
from cutset.model.wording import quoted

_COLLECTOR_SECONDS = 120.0  # an image may have to be fetched
_PAUSE_SECONDS = 0.2
_LIFE_SECONDS = 30  # of a question
_MAX_LINE_BYTES = 256 * 1024 * 1024  # of spans: what the relay sends at once is smaller
_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class ProbeReply:
    pod: str = ""  # that answered; empty: the filter did not
    version: str = ""
    otherwise: str = ""  # what was answered instead
    trace: str = ""  # of the question


@dataclass(frozen=True, slots=True)
class Questioner:
    session: aiohttp.ClientSession
    key: bytes
    environment: str
    traced: set[str] = field(default_factory=set)  # questions of which a span came to the collector

    async def ask(self, service: ClusterService, at: ClusterPort) -> ProbeReply:
        trace = secrets.token_hex(16)
        headers = probe_headers(
            trace_id=trace,
            span_id=secrets.token_hex(8),
            key=self.key,
            environment=self.environment,
            expires=time.time() + _LIFE_SECONDS,
        )
        wanted = {
            # The sidecar beside the collector finds the Service by name; the address only has to be some.
            "address": f"{next(each.ip for each in service.pods if each.ip)}:{at.number}",
            "grpc": at.protocol.startswith("grpc"),
            "headers": {**headers, "host": f"{service.host}:{at.number}"},
        }
        try:
            async with self.session.post("/probe", json=wanted) as answer:
                return reply_in(await answer.json(), trace)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return ProbeReply(otherwise=f"the collector does not answer: {error}")

    async def follow(self) -> None:
        """Takes note of all spans that come to the collector."""
        with suppress(aiohttp.ClientError, OSError):
            async with self.session.get("/spans", timeout=aiohttp.ClientTimeout(total=None)) as stream:
                async for line in stream.content:
                    self.traced.update(traces_in(line))


@asynccontextmanager
async def asking(cluster: Cluster, key: bytes, environment: str) -> AsyncIterator[Questioner]:
    """As soon as our collector runs."""
    pod = await _collector_pod(cluster)
    async with (
        cluster.forwarded(pod, COLLECTOR_NAMESPACE, RELAY_PORT) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", read_bufsize=_MAX_LINE_BYTES) as session,
    ):
        questioner = Questioner(session, key, environment)
        following = asyncio.ensure_future(questioner.follow())
        try:
            yield questioner
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following


def reply_in(answer: Resource, trace: str = "") -> ProbeReply:
    told = str((answer.get("headers") or {}).get(PROBE_HEADER, ""))
    if told:
        before, _, version = told.rpartition("/")
        return ProbeReply(before.rpartition("/")[2], version, trace=trace)
    status = int(answer.get("status") or 0)
    if status == _FORBIDDEN:
        return ProbeReply(otherwise="an AuthorizationPolicy keeps our collector out (403)")
    if status:
        return ProbeReply(otherwise=f"the filter does not answer for it (status {status})")
    return ProbeReply(otherwise=f"it does not answer: {answer.get('error', '')}")


def traces_in(line: bytes) -> set[str]:
    """Of the spans in a payload of OTLP/JSON; none where it is none."""
    try:
        payload = json.loads(line)
        spans = (
            span
            for resource in payload.get("resourceSpans", ())
            for scope in resource.get("scopeSpans", ())
            for span in scope.get("spans", ())
        )
        return {str(span.get("traceId", "")).lower() for span in spans}
    except (ValueError, AttributeError, TypeError):
        return set()


async def _collector_pod(cluster: Cluster) -> str:
    deadline = time.monotonic() + _COLLECTOR_SECONDS
    while True:
        pods = await cluster.list("Pod", COLLECTOR_NAMESPACE, LABELS)
        for pod in pods:
            conditions = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions", ())}
            if conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]:
                return str(pod["metadata"]["name"])
        if time.monotonic() > deadline:
            raise TargetError(
                f"The collector (Deployment {COLLECTOR_NAMESPACE}/{COLLECTOR}) does not get ready: {why_waiting(pods)}",
                hint=f"`kubectl -n {COLLECTOR_NAMESPACE} describe pods` says more; `--image` names another image",
            )
        await asyncio.sleep(_PAUSE_SECONDS)


def why_waiting(pods: Iterable[Resource]) -> str:
    """What Kubernetes says of pods that do not get ready."""
    found = list(pods)
    reasons = {
        waiting["reason"]
        for pod in found
        for container in pod.get("status", {}).get("containerStatuses", ())
        if (waiting := container.get("state", {}).get("waiting"))
    }
    return quoted(sorted(reasons)) or ("its containers have not started" if found else "it has no pod")

"""A campaign as a Job in the cluster, followed from here: its events are copied into the ledger here as they are made.

Whoever follows may go away: the Job goes on, keeps what it finds for a day, and is fetched by `attach`. All that was
created for it is removed once everything has been fetched.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from cutset import errors
from cutset.config.explore import Config
from cutset.config.steps import files_named
from cutset.config.yaml import read_yaml
from cutset.errors import CutsetError, TargetError, UsageError
from cutset.inject.istio.collector import COLLECTOR
from cutset.inject.istio.job import EVENTS_PORT, CampaignJob, job_labels, job_resources
from cutset.inject.istio.marks import DEFAULT_IMAGE
from cutset.inject.istio.rights import AccessPlaces
from cutset.inject.signing import seal_of
from cutset.kubernetes.client import Cluster, connected
from cutset.model.cluster import IstioPlace, Resource
from cutset.model.event import CampaignEvent
from cutset.model.run import RunStarted
from cutset.store.codec import event_from_json
from cutset.store.ledger import Ledger, open_ledger
from cutset.store.runs import held_run

POLL_SECONDS = 1.0
START_SECONDS = 120.0  # until the pod runs: an image may have to be fetched
QUIET_SECONDS = 5.0  # without as much as a sign of life: the connection is dead
_NO_KEY = b"put the private key of the environment here\n"
_HOPELESS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")


@dataclass(frozen=True, slots=True)
class JobOptions:
    image: str = ""  # empty: that of the collector in the cluster
    pull_policy: str = "IfNotPresent"
    arguments: tuple[str, ...] = ()  # of `cutset explore` there
    attach: bool = False  # to a Job that is there already


async def explore_in_cluster(
    config: Config,
    options: JobOptions,
    *,
    key: bytes,
    store: Path,
    on_note: Callable[[str], None] = lambda _: None,
) -> AsyncGenerator[CampaignEvent, None]:
    """As `explore`, by a Job. Raises what that raised there."""
    place = _place(config)
    async with connected(place.context) as cluster:
        job = await _job(cluster, config, place, options, key)
        resources = job_resources(job)
        there = await cluster.get("Job", job.name, job.namespace)
        if options.attach and there is None:
            raise UsageError(f"There is no Job {job.namespace}/{job.name} in the cluster", hint="Leave `--attach` out")
        if there is not None and not options.attach:
            raise UsageError(
                f"There is a Job {job.namespace}/{job.name} already: a campaign that runs, or was not fetched",
                hint="Fetch it with `--attach`, or remove it with "
                f"`kubectl delete job -n {job.namespace} {job.name}`, which forgets what it found",
            )
        if there is None:
            await _create(cluster, resources)
        on_note(f"the campaign is Job {job.namespace}/{job.name}: if you leave, it goes on; `--attach` fetches it")
        with open_ledger(store, key=seal_of(key)) as ledger:
            copying = _Copying(ledger, str(config.path))
            try:
                async with aclosing(_followed(cluster, job, copying)) as events:
                    async for event in events:
                        yield event
            finally:
                copying.close()
        await _remove(cluster, resources)
    if copying.problem is not None:
        raise copying.problem


def printed_job(config: Config, options: JobOptions) -> str:
    """The same as a manifest, for whoever applies it by other means; the key has to be put in."""
    place = _place(config)
    job = _described(config, place, options, options.image or DEFAULT_IMAGE, _NO_KEY)
    return "".join(f"---\n{yaml.safe_dump(each, sort_keys=False)}" for each in job_resources(job))


class _Copying:
    """Copies events into a ledger that may have the first ones already."""

    def __init__(self, ledger: Ledger, config: str) -> None:
        self.lines = 0  # that were read
        self.ended = False
        self.problem: CutsetError | None = None
        self._ledger = ledger
        self._config = config
        self._held = ExitStack()
        self._there = 0  # events of this run in the ledger to begin with

    def close(self) -> None:
        self._held.close()

    def take(self, line: bytes) -> CampaignEvent | None:
        found: dict[str, Any] = json.loads(line)
        if found.get("end"):
            self.ended, self.problem = True, _problem(found)
            return None
        if not self.lines:
            self._held.enter_context(held_run(self._ledger, found["run"]))
            self._there = len(self._ledger.records(found["run"]))
        self.lines += 1
        event = event_from_json(found["kind"], found["fields"])
        if isinstance(event, RunStarted):
            event = replace(event, config=self._config)
        if self.lines > self._there:
            self._ledger.append(found["run"], event, at=found["at"])
        return event if isinstance(event, CampaignEvent) else None


def _problem(found: dict[str, Any]) -> CutsetError | None:
    """The same as it was there."""
    if "error" not in found:
        return None
    kind = getattr(errors, str(found.get("kind")), CutsetError)
    return (kind if issubclass(kind, CutsetError) else CutsetError)(str(found["error"]), hint=str(found.get("hint")))


def _place(config: Config) -> IstioPlace:
    if config.istio is None or config.path is None:
        raise UsageError("Only what runs in Istio can be explored from inside", hint="`cutset init` writes `istio:`")
    if named := sorted(files_named(read_yaml(config.path))):
        raise UsageError(
            f"The requests need files that are not in the cluster: {', '.join(f'`{key}`' for key in named)}",
            hint="Explore from here, without `--in-cluster`, or write these requests out",
        )
    return config.istio


async def _job(cluster: Cluster, config: Config, place: IstioPlace, options: JobOptions, key: bytes) -> CampaignJob:
    image = options.image
    if not image and (collector := await cluster.get("Deployment", COLLECTOR, place.collector_namespace)):
        image = collector["spec"]["template"]["spec"]["containers"][0]["image"]
    return _described(config, place, options, image or DEFAULT_IMAGE, key)


def _described(config: Config, place: IstioPlace, options: JobOptions, image: str, key: bytes) -> CampaignJob:
    gateway = place.gateway.partition("/")[0]
    return CampaignJob(
        environment=config.target.environment,
        namespace=place.collector_namespace,
        places=AccessPlaces(place.namespaces, (gateway,) if gateway else (), place.collector_namespace),
        image=image,
        pull_policy=options.pull_policy,
        config=_as_inside(config.path or Path()),
        key=key,
        arguments=options.arguments,
    )


def _as_inside(file: Path) -> str:
    """There is no context of a kubeconfig inside the cluster."""
    content = read_yaml(file)
    istio = content.get("istio")
    inside = {name: value for name, value in istio.items() if name != "context"} if isinstance(istio, dict) else {}
    return yaml.safe_dump({**content, "istio": inside}, sort_keys=False, allow_unicode=True)


async def _create(cluster: Cluster, resources: Sequence[Resource]) -> None:
    try:
        for each in resources:
            await cluster.apply(each)
    except CutsetError:
        await _remove(cluster, resources)
        raise


async def _remove(cluster: Cluster, resources: Sequence[Resource]) -> None:
    for each in reversed(resources):
        with suppress(CutsetError):  # of one that cannot be removed, the others can
            await cluster.delete(each)


async def _followed(cluster: Cluster, job: CampaignJob, copying: _Copying) -> AsyncGenerator[CampaignEvent, None]:
    timeout = aiohttp.ClientTimeout(total=None, sock_read=QUIET_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, read_bufsize=2**24) as session:
        while not copying.ended:
            pod = await _running_pod(cluster, job)
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with cluster.forwarded(pod, job.namespace, EVENTS_PORT) as port:
                    url = f"http://127.0.0.1:{port}"
                    async with session.get(f"{url}/events", params={"after": copying.lines}) as stream:
                        async for line in stream.content:
                            if line.endswith(b"\n") and line.strip() and (event := copying.take(line)):
                                yield event
                    if copying.ended:
                        async with session.post(f"{url}/fetched"):
                            pass
            if not copying.ended:
                await asyncio.sleep(POLL_SECONDS)


async def _running_pod(cluster: Cluster, job: CampaignJob) -> str:
    """Its name, once it runs."""
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while True:
        pods = await cluster.list("Pod", job.namespace, job_labels(job.environment))
        phases = {pod["metadata"]["name"]: pod.get("status", {}).get("phase") for pod in pods}
        if running := [name for name, phase in phases.items() if phase == "Running"]:
            return str(running[0])
        waiting = next((why for pod in pods for why in _waiting(pod)), "")
        late = asyncio.get_running_loop().time() > deadline
        if late or "Failed" in phases.values() or waiting.partition(":")[0] in _HOPELESS:
            why = waiting or ("it ended before all was fetched" if "Failed" in phases.values() else "no pod runs")
            raise TargetError(
                f"The Job {job.namespace}/{job.name} does not run: {why}",
                hint=f"See `kubectl describe job -n {job.namespace} {job.name}`, and choose an image with `--image`. "
                f"`kubectl delete job -n {job.namespace} {job.name}` removes it",
            )
        await asyncio.sleep(POLL_SECONDS)


def _waiting(pod: Resource) -> list[str]:
    states = [each.get("state", {}).get("waiting", {}) for each in pod.get("status", {}).get("containerStatuses", ())]
    return [f"{each['reason']}: {each.get('message', '')}" for each in states if each.get("reason")]

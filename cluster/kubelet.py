"""The node of the laboratory: runs what pods say, as processes, and tells the API server how they are.

A thread per pod takes it through its life: bound to the node, network, volumes, init containers and native sidecars in
their order, containers; restarts, probes and status; SIGTERM and an end in the order of Kubernetes.
"""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from cluster import containers, network
from cluster.api import Api, ApiError, Resource
from cluster.control_plane import KUBELET_PORT, KUBERNETES, named
from cluster.pods import NODE, NotYetError, Pod, write_volumes
from cluster.processes import LaboratoryError, Place, spawn

TICK = 0.2  # seconds between two looks at a pod's processes
FIRST_DELAY, LONGEST_DELAY = 1.0, 10.0  # seconds before a container that ended is started again
PROBE_SECONDS = 5.0  # between probes of a container that is ready
GRACE = 30.0  # Kubernetes' default


@dataclass(slots=True)
class Running:
    """A container and what became of it."""

    container: Resource
    sidecar: bool
    process: subprocess.Popen[bytes] | None = None
    restarts: int = -1
    code: int | None = None
    ready: bool = False
    failures: int = 0
    next_start: float = 0.0
    next_probe: float = 0.0
    since: str = ""

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class Life:
    """A pod's thread, and how it is told to end."""

    ended: threading.Event = field(default_factory=threading.Event)
    grace: float = GRACE


def serve(place: Place, api: Api) -> None:
    """Registers the node, starts what the API server calls by itself, and follows the pods in a thread of its own."""
    address = [{"type": "InternalIP", "address": network.BRIDGE_ADDRESS}, {"type": "Hostname", "address": NODE}]
    conditions = [{"type": "Ready", "status": "True", "reason": "Laboratory", "lastTransitionTime": _now()}]
    info = dict.fromkeys(("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "kubeProxyVersion"), "")
    info |= {"kubeletVersion": KUBERNETES, "containerRuntimeVersion": "laboratory://1", "operatingSystem": "linux"}
    room = {"cpu": "64", "memory": "64Gi", "pods": "250"}
    status = {
        "addresses": address, "conditions": conditions, "nodeInfo": info | {"architecture": "amd64"},
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}}, "capacity": room, "allocatable": room,
    }  # fmt: skip
    api.apply(named("Node", NODE, labels={"kubernetes.io/hostname": NODE}))
    api.call("PATCH", f"/api/v1/nodes/{NODE}/status", {"status": status}, "application/merge-patch+json")
    logs = place.run / "logs"
    spawn(place, "portforward", [place.binaries / "portforward", "-listen", f":{KUBELET_PORT}", "-logs", logs])
    threading.Thread(target=_follow, args=(place, api), daemon=True).start()


def _follow(place: Place, api: Api) -> None:
    lives: dict[str, Life] = {}
    for event, pod in api.watch("/api/v1/pods"):
        uid = pod["metadata"]["uid"]
        going = event == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if uid not in lives and event != "DELETED":
            lives[uid] = Life()
            threading.Thread(target=_live, args=(place, api, pod, lives[uid]), daemon=True).start()
        if going and uid in lives:
            lives[uid].grace = 0.0 if event == "DELETED" else pod["metadata"].get("deletionGracePeriodSeconds", GRACE)
            lives[uid].ended.set()


def _live(place: Place, api: Api, resource: Resource, life: Life) -> None:
    pod = Pod(place, api, resource, "")
    try:
        if "nodeName" not in pod.spec and not life.ended.is_set():
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            api.call("POST", pod.path("/binding"), named("Binding", pod.name, pod.namespace, target=target))
        pod = Pod(place, api, resource, network.add_pod(pod.network))
        try:
            _Keeper(pod, life).keep()
        finally:
            network.remove_pod(pod.network)
            shutil.rmtree(pod.folder, ignore_errors=True)
        life.ended.wait()
        gone = {"gracePeriodSeconds": 0, "preconditions": {"uid": resource["metadata"]["uid"]}}
        api.call("DELETE", pod.path(), gone)
    except ApiError as error:
        if error.code not in (404, 409):  # somebody else deleted it: that is what was wanted
            _report(place, pod, error)
    except (LaboratoryError, OSError) as error:
        _report(place, pod, error)


def _report(place: Place, pod: Pod, error: Exception) -> None:
    with place.log("kubelet").open("a") as log:
        log.write(f"{_now()} {pod.namespace}/{pod.name}: {error!r}\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class _Keeper:
    """Keeps the containers of one pod."""

    def __init__(self, pod: Pod, life: Life) -> None:
        self.pod, self.life = pod, life
        self.volumes: dict[str, Path] = {}
        self.told: Resource = {}
        self.why_waiting = ""
        self.start_time = _now()
        initial = pod.spec.get("initContainers") or []
        self.initial = [Running(each, each.get("restartPolicy") == "Always") for each in initial]
        own = pod.spec["containers"]
        self.main = [Running(each, len(own) > 1 and each["name"] == "istio-proxy") for each in own]
        self.policy = pod.spec.get("restartPolicy", "Always")

    def keep(self) -> None:
        try:
            if not (self._prepare() and self._initialise()):
                return
            while not self.life.ended.is_set():
                for each in self.initial + self.main:
                    if each.sidecar or each in self.main:
                        self._step(each)
                if phase := self._outcome():
                    self._stop([each for each in self.initial + self.main if each.sidecar], GRACE)
                    self._tell(phase)
                    return
                self._tell("Running")
                self.life.ended.wait(TICK)
        finally:
            self._stop([each for each in self.main if not each.sidecar], self.life.grace)
            self._stop([each for each in self.initial + self.main if each.sidecar], self.life.grace)

    def _prepare(self) -> bool:
        while not self.life.ended.is_set():
            try:
                self.volumes = write_volumes(self.pod)
            except (NotYetError, ApiError) as error:
                self.why_waiting = str(error)
                self._tell("Pending")
                self.life.ended.wait(TICK)
            else:
                return True
        return False

    def _initialise(self) -> bool:
        """Init containers one after the other; a native sidecar has to be started, the others to end well."""
        for each in self.initial:
            while not self.life.ended.is_set():
                self._step(each)
                self._tell("Pending")
                if each.code == 0 or (each.sidecar and each.ready):
                    break
                self.life.ended.wait(TICK)
        return not self.life.ended.is_set()

    def _step(self, each: Running) -> None:
        now = time.monotonic()
        if each.process is not None and each.code is None and not each.runs:
            each.code, each.ready, each.since = each.process.returncode, False, _now()
            each.next_start = now + min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(each.restarts, 4))
        again = each.process is None or (each.code is not None and self._restarts(each))
        if again and now >= each.next_start:
            try:
                each.process = containers.start(self.pod, each.container, self.volumes)
            except (NotYetError, ApiError) as error:
                self.why_waiting, each.next_start = str(error), now + FIRST_DELAY
                return
            each.code, each.since, each.restarts = None, _now(), each.restarts + 1
            each.failures = each.next_probe = 0
        if each.runs and now >= each.next_probe:
            self._probe(each)

    def _restarts(self, each: Running) -> bool:
        if each.sidecar or (each in self.main and self.policy == "Always"):
            return True
        return each.code != 0 and self.policy != "Never"

    def _probe(self, each: Running) -> None:
        assert each.process is not None
        probe = each.container.get("readinessProbe") or each.container.get("startupProbe")
        if _healthy(self.pod.address, each.container, probe, each.process):
            each.ready, each.failures, each.next_probe = True, 0, time.monotonic() + PROBE_SECONDS
            return
        each.failures += 1
        if each.failures >= (probe or {}).get("failureThreshold", 3):
            each.ready = False

    def _outcome(self) -> str:
        """How the pod ended, if it did."""
        own = [each for each in self.main if not each.sidecar]
        if any(each.code is None or self._restarts(each) for each in own):
            return ""
        return "Succeeded" if all(each.code == 0 for each in own) else "Failed"

    def _stop(self, those: list[Running], grace: float) -> None:
        deadline = time.monotonic() + grace
        alive = [each for each in those if each.runs and each.process]
        for each in alive:
            hook = ((each.container.get("lifecycle") or {}).get("preStop") or {}).get("exec")
            if hook and each.process:
                containers.run_inside(each.process, hook["command"], grace)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for each in alive:
                if each.process and each.runs:
                    os.killpg(each.process.pid, number)
            while any(each.runs for each in alive) and (number == signal.SIGKILL or time.monotonic() < deadline):
                time.sleep(TICK / 4)
        for each in alive:
            if each.process:
                each.code, each.ready, each.since = each.process.returncode, False, _now()

    def _tell(self, phase: str) -> None:
        ready = phase == "Running" and all(each.ready for each in self.main + [x for x in self.initial if x.sidecar])
        initialised = all(each.code == 0 or each.sidecar for each in self.initial) and phase != "Pending"
        truths = {"PodScheduled": True, "Initialized": initialised, "ContainersReady": ready, "Ready": ready}
        now = _now()
        before = {each["type"]: each for each in self.told.get("conditions", [])}
        conditions = []
        for kind, truth in truths.items():
            told = {"type": kind, "status": str(truth), "lastTransitionTime": now}
            same = before.get(kind, {}).get("status") == str(truth)
            conditions.append(before[kind] if same else told)
        status = {
            "phase": phase, "hostIP": network.BRIDGE_ADDRESS, "podIP": self.pod.address,
            "podIPs": [{"ip": self.pod.address}], "startTime": self.start_time, "conditions": conditions,
            "containerStatuses": [self._status(each) for each in self.main],
            "initContainerStatuses": [self._status(each) for each in self.initial],
        }  # fmt: skip
        if status != self.told:
            self.pod.api.call("PATCH", self.pod.path("/status"), {"status": status}, "application/merge-patch+json")
            self.told = status

    def _status(self, each: Running) -> Resource:
        if each.code is not None:
            reason = "Completed" if each.code == 0 else "Error"
            state = {"terminated": {"exitCode": each.code % 256, "reason": reason, "finishedAt": each.since}}
        elif each.runs:
            state = {"running": {"startedAt": each.since}}
        else:
            state = {"waiting": {"reason": "ContainerCreating", "message": self.why_waiting}}
        image = each.container["image"]
        return {
            "name": each.container["name"], "image": image, "imageID": image, "ready": each.ready, "state": state,
            "restartCount": max(0, each.restarts), "started": each.runs,
            "containerID": f"laboratory://{each.process.pid if each.process else 0}",
        }  # fmt: skip


def _healthy(address: str, container: Resource, probe: Resource | None, process: subprocess.Popen[bytes]) -> bool:
    seconds = (probe or {}).get("timeoutSeconds", 1)
    if probe is None:
        ports = [each["containerPort"] for each in container.get("ports") or [] if each.get("protocol", "TCP") == "TCP"]
        return not ports or _listens(process.pid, ports[0])
    if "exec" in probe:
        return containers.run_inside(process, probe["exec"]["command"], seconds)
    kind, about = next((kind, about) for kind, about in probe.items() if kind in ("httpGet", "tcpSocket", "grpc"))
    port = next(
        (each["containerPort"] for each in container.get("ports") or [] if each.get("name") == about["port"]),
        about["port"],
    )
    try:
        if kind != "httpGet":
            socket.create_connection((address, int(port)), seconds).close()
            return True
        headers = {each["name"]: each["value"] for each in about.get("httpHeaders") or []}
        with closing(http.client.HTTPConnection(address, int(port), timeout=seconds)) as connection:
            connection.request("GET", about.get("path", "/"), headers=headers)
            return 200 <= connection.getresponse().status < 400
    except (OSError, http.client.HTTPException):
        return False


def _listens(pid: int, port: int) -> bool:
    """Asks the kernel, because a sidecar accepts connections for the application whether it is there or not."""
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            return False
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False

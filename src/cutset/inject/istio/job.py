"""A campaign as a Job in the cluster: what is created for it, all in our own namespace but for the roles.

It enters by the gateway's Service and reads spans as a laptop does, by a port-forward, with an account that may only
that. Configuration and key are in one Secret: requests may hold credentials of their own.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from cutset.inject.istio.marks import marked
from cutset.inject.istio.rights import AccessPlaces, role_resources
from cutset.model.cluster import Resource

EVENTS_PORT = 4320  # on the loopback of the Job's pod
CONFIG_FILE, KEY_ENTRY = "cutset.yaml", "key.pem"
_CONFIG_FOLDER, _WORK_FOLDER = "/etc/cutset", "/var/lib/cutset"
_USER = 65532  # nobody in particular


@dataclass(frozen=True, slots=True)
class CampaignJob:
    environment: str
    namespace: str  # of ours
    places: AccessPlaces
    image: str
    pull_policy: str
    config: str  # the text of cutset.yaml
    key: bytes  # in PEM
    arguments: tuple[str, ...] = ()  # of `cutset explore`, beyond those that say where all is

    @property
    def name(self) -> str:
        return job_name(self.environment)


def job_name(environment: str) -> str:
    return f"cutset-explore-{environment}"


def job_labels(environment: str) -> dict[str, str]:
    return {"app": "cutset-explore", "cutset.dev/environment": environment}


def job_resources(wanted: CampaignJob) -> list[Resource]:
    """In the order in which they are applied; the Job is the last."""
    within = {"name": wanted.name, "namespace": wanted.namespace}
    held = {CONFIG_FILE: wanted.config.encode(), KEY_ENTRY: wanted.key}
    secret = {name: base64.b64encode(content).decode() for name, content in held.items()}
    roles = role_resources(wanted.places, wanted.name, wanted.namespace, commands=("cutset explore",), name=wanted.name)
    found = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": within},
        *roles,
        {"apiVersion": "v1", "kind": "Secret", "metadata": within, "type": "Opaque", "data": secret},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": within, "spec": _spec(wanted)},
    ]
    return [marked(each, wanted.environment) for each in found]


def _spec(wanted: CampaignJob) -> Resource:
    # Without a sidecar: it would not end with the Job, and the gateway is entered as users enter it.
    labels = job_labels(wanted.environment) | {"sidecar.istio.io/inject": "false"}
    return {
        "backoffLimit": 0,  # what was found until then is in the pod: another one would begin anew
        "template": {
            "metadata": {"labels": labels, "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
            "spec": {
                "serviceAccountName": wanted.name,
                "restartPolicy": "Never",
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "fsGroup": _USER,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [_container(wanted, wanted.arguments)],
                "volumes": [
                    {"name": "config", "secret": {"secretName": wanted.name, "items": [_entry(CONFIG_FILE)]}},
                    {"name": "work", "emptyDir": {}},
                    {"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}},
                ],
            },
        },
    }


def _entry(name: str) -> dict[str, str]:
    return {"key": name, "path": name}


def _container(wanted: CampaignJob, arguments: Sequence[str]) -> Resource:
    places = ["--config", f"{_CONFIG_FOLDER}/{CONFIG_FILE}", "--store", _WORK_FOLDER]
    return {
        "name": "explore",
        "image": wanted.image,
        "imagePullPolicy": wanted.pull_policy,
        "command": ["cutset", "explore", *places, "--serve-port", str(EVENTS_PORT), *arguments],
        "env": [
            {"name": "CUTSET_KEY", "valueFrom": {"secretKeyRef": {"name": wanted.name, "key": KEY_ENTRY}}},
            {"name": "HOME", "value": _WORK_FOLDER},
        ],
        "resources": {"requests": {"cpu": "200m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": _CONFIG_FOLDER, "readOnly": True},
            {"name": "work", "mountPath": _WORK_FOLDER},
            {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 -- of the container
        ],
    }

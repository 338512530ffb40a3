import base64

from cutset.inject.istio.job import CampaignJob, job_labels, job_resources
from cutset.inject.istio.rights import AccessPlaces

JOB = CampaignJob(
    environment="shop",
    namespace="cutset",
    places=AccessPlaces(("shop",), ("istio-ingress",)),
    image="registry/cutset:1",
    pull_policy="IfNotPresent",
    config="requests: []\n",
    key=b"a private key",
    arguments=("--max-size", "2"),
)


def of_kind(kind):
    return [each for each in job_resources(JOB) if each["kind"] == kind]


def test_the_key_is_in_a_secret_of_our_own_namespace_and_nowhere_else():
    (secret,) = of_kind("Secret")
    assert base64.b64decode(secret["data"]["key.pem"]) == b"a private key"
    assert secret["metadata"]["namespace"] == "cutset"
    others = [each for each in job_resources(JOB) if each["kind"] != "Secret"]
    assert base64.b64encode(b"a private key").decode() not in str(others)
    assert "a private key" not in str(others)


def test_the_job_runs_the_same_command_there_without_a_sidecar_and_once():
    (job,) = of_kind("Job")
    pod = job["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    assert container["command"][:2] == ["cutset", "explore"]
    assert container["command"][-2:] == ["--max-size", "2"]
    assert container["image"] == "registry/cutset:1"
    assert pod["metadata"]["labels"].items() >= job_labels("shop").items()
    assert pod["metadata"]["labels"]["sidecar.istio.io/inject"] == "false"
    assert (job["spec"]["backoffLimit"], pod["spec"]["restartPolicy"]) == (0, "Never")
    assert pod["spec"]["securityContext"]["runAsNonRoot"]


def test_its_account_may_look_and_forward_ports_and_nothing_else():
    rules = [rule for each in job_resources(JOB) for rule in each.get("rules", ())]
    verbs = {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}
    assert {each for each in verbs if each[1] not in ("get", "list")} == {("pods/portforward", "create")}
    (account,) = of_kind("ServiceAccount")
    bindings = of_kind("RoleBinding") + of_kind("ClusterRoleBinding")
    assert {each["subjects"][0]["name"] for each in bindings} == {account["metadata"]["name"]}


def test_all_of_it_is_labelled_and_the_job_comes_last():
    resources = job_resources(JOB)
    assert {each["metadata"]["labels"]["cutset.dev/environment"] for each in resources} == {"shop"}
    assert {each["metadata"]["labels"]["app.kubernetes.io/managed-by"] for each in resources} == {"cutset"}
    assert resources[-1]["kind"] == "Job"

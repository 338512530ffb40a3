import subprocess
import sys

from tests.samples.installations import installation

from cutset.inject.istio.collector import collector_resources
from cutset.inject.istio.marks import is_ours


def found() -> dict[str, dict[str, object]]:
    made = collector_resources(installation(image="registry.example/cutset:1"), {"istio.io/rev": "canary"})
    return {each["kind"]: each for each in made}


def test_the_namespace_comes_first_and_asks_for_sidecars_as_the_application_does() -> None:
    made = collector_resources(installation(), {"istio.io/rev": "canary"})
    assert [each["kind"] for each in made] == ["Namespace", "ServiceAccount", "Service", "Deployment"]
    assert made[0]["metadata"]["labels"]["istio.io/rev"] == "canary"
    assert all(map(is_ours, made))


def test_the_pod_has_no_rights_and_no_secrets() -> None:
    spec = found()["Deployment"]["spec"]["template"]["spec"]  # type: ignore[index]
    (container,) = spec["containers"]
    assert not spec["automountServiceAccountToken"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["image"] == "registry.example/cutset:1"
    assert "env" not in container


def test_the_command_is_one_that_there_is() -> None:
    (container,) = found()["Deployment"]["spec"]["template"]["spec"]["containers"]  # type: ignore[index]
    asked = subprocess.run(
        [sys.executable, "-m", "cutset", "collect", "--help"], capture_output=True, text=True, check=True
    )
    help_text = asked.stdout
    assert container["command"][:2] == ["cutset", "collect"]
    for option in container["command"]:
        assert not option.startswith("--") or option in help_text

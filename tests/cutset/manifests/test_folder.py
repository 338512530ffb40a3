from pathlib import Path

import pytest
import yaml

from cutset.errors import UsageError
from cutset.manifests.folder import write_manifests
from cutset.manifests.istio import API_VERSION
from cutset.manifests.wanted import EJECTION, Manifest

POLICY = {"outlierDetection": EJECTION}


def rule(name: str, host: str, policy: dict[str, object]) -> Manifest:
    spec = {"host": host, "trafficPolicy": policy}
    return {"apiVersion": API_VERSION, "kind": "DestinationRule", "metadata": {"name": name}, "spec": spec}


OURS = rule("cart", "cart", POLICY)


def test_what_is_there_is_merged_with_if_both_agree(tmp_path: Path) -> None:
    (file,) = write_manifests(tmp_path / "k8s", [OURS])
    assert file == tmp_path / "k8s" / "cart-destinationrule.yaml"
    assert yaml.safe_load(file.read_text()) == OURS
    assert write_manifests(tmp_path / "k8s", [OURS]) == []  # it is all there

    file.write_text(yaml.safe_dump(rule("by-us", "cart", {"tls": {"mode": "ISTIO_MUTUAL"}})))
    assert write_manifests(tmp_path / "k8s", [OURS]) == [file]
    merged = yaml.safe_load(file.read_text())
    assert merged["metadata"] == {"name": "by-us"}
    assert merged["spec"]["trafficPolicy"] == POLICY | {"tls": {"mode": "ISTIO_MUTUAL"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (yaml.safe_dump(rule("x", "cart.shop.svc.cluster.local", POLICY)), "`spec.host` is"),  # which is right?
        (yaml.safe_dump(rule("x", "cart", {"outlierDetection": {"interval": "9s"}})), "interval` is"),
        ("# by hand\n" + yaml.safe_dump(rule("x", "cart", {})), "has comments"),
        (yaml.safe_dump(rule("x", "cart", {})) + "---\nkind: Secret\n", "several documents"),
        ("kind: Secret\n", "exists and holds something else"),
        ("[", "is not YAML that can be read"),
    ],
)
def test_what_does_not_agree_is_refused_and_left_alone(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "cart-destinationrule.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        write_manifests(tmp_path, [rule("ad", "ad", POLICY), OURS])
    assert message in caught.value.message
    assert [each.name for each in tmp_path.iterdir()] == [file.name]  # all or none
    assert file.read_text() == text

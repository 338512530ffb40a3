from tests.samples.cluster_resources import resource
from tests.samples.installations import installation

from cutset.inject.istio.marks import (
    ENVIRONMENT,
    INSTALLATION,
    MANAGED_BY,
    VERSION,
    annotation,
    installation_in,
    is_ours,
    label,
    marked,
)


def test_everything_of_ours_says_so() -> None:
    found = marked(resource("EnvoyFilter", "cutset-shop", {}, labels={"app": "cutset"}), "shop")
    assert found["metadata"]["labels"] == {"app": "cutset", MANAGED_BY: "cutset", ENVIRONMENT: "shop"}
    assert is_ours(found)
    assert not is_ours(resource("EnvoyFilter", "theirs", {}))


def test_a_version_is_of_the_content_alone() -> None:
    one, same, other = (marked(resource("EnvoyFilter", "x", {"a": n}), "shop") for n in (1, 1, 2))
    assert annotation(one, VERSION) == annotation(same, VERSION) != annotation(other, VERSION)


def test_what_is_shared_belongs_to_no_environment() -> None:
    assert not label(marked(resource("Service", "collector", {})), ENVIRONMENT)


def test_what_was_asked_for_is_read_back() -> None:
    wanted = installation(namespaces=("shop", "payment"), strip_all=True)
    kept = marked(resource("EnvoyFilter", "x", {}), "shop", **{INSTALLATION: wanted.to_json()})
    assert installation_in(kept) == wanted
    assert installation_in(resource("EnvoyFilter", "x", {})) is None
    assert installation_in(marked(resource("EnvoyFilter", "x", {}), "shop", **{INSTALLATION: "{}"})) is None


def test_an_environment_with_another_collector_has_a_provider_of_its_own() -> None:
    assert installation().provider == "cutset"
    assert installation(collector="otel.obs.svc.cluster.local:4317").provider == "cutset-shop"

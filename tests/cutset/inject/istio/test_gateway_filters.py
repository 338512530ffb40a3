from pathlib import Path

from tests.samples.installations import installation
from tests.samples.istiod_patches import filter_names, patched, refused_by_envoy

from cutset.inject.istio.gateway_filters import gateway_filter
from cutset.inject.istio.marks import VERSION, annotation
from cutset.model.cluster import ClusterGateway

GATEWAY = ClusterGateway("ingress", "front", (), (), (("istio", "ingressgateway"),))


def test_envoy_takes_what_gateways_are_given_by_two_environments(tmp_path: Path) -> None:
    found = [gateway_filter(installation(environment=each), GATEWAY) for each in ("shop", "inn")]
    bootstrap = patched(found)
    assert filter_names(bootstrap, "SIDECAR_INBOUND") == ["envoy.filters.http.router"]
    names = filter_names(bootstrap, "GATEWAY")
    assert len(names) == len(set(names)) > 2
    assert refused_by_envoy(bootstrap, tmp_path) == ""


def test_it_is_for_the_pods_of_that_gateway_alone() -> None:
    found = gateway_filter(installation(), GATEWAY)
    assert found["metadata"]["namespace"] == "ingress"
    assert found["spec"]["workloadSelector"] == {"labels": {"istio": "ingressgateway"}}


def test_stripping_all_is_another_filter() -> None:
    one, other = (gateway_filter(installation(strip_all=each), GATEWAY) for each in (False, True))
    assert annotation(one, VERSION) != annotation(other, VERSION)


def test_without_a_tracer_of_its_own_a_gateway_marks_nobody_as_traced() -> None:
    quiet, kept = (gateway_filter(installation(), GATEWAY, has_tracer=each) for each in (False, True))
    assert "random_sampling" in str(quiet)
    assert "random_sampling" not in str(kept)

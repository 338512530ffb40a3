from pathlib import Path

from tests.samples.installations import installation
from tests.samples.istiod_patches import filter_names, manager_of, patched, refused_by_envoy

from cutset.inject.istio.marks import VERSION, annotation, installation_in
from cutset.inject.istio.sidecars import sidecars_filter


def test_envoy_takes_what_sidecars_are_given(tmp_path: Path) -> None:
    bootstrap = patched([sidecars_filter(installation(), "shop", {"cart-v1": "cart"})])
    assert filter_names(bootstrap, "SIDECAR_INBOUND")[-5:-1] == [
        "cutset.span",
        "cutset.lua",
        "cutset.fault",
        "cutset.clean",
    ]
    assert filter_names(bootstrap, "SIDECAR_OUTBOUND")[-2] == "cutset.naming"
    assert filter_names(bootstrap, "GATEWAY") == ["envoy.filters.http.router"]
    assert manager_of(bootstrap, "SIDECAR_INBOUND")["tracing"]["client_sampling"] == {"value": 100}
    assert refused_by_envoy(bootstrap, tmp_path) == ""


def test_a_workload_that_is_called_otherwise_is_another_version() -> None:
    one, other = (sidecars_filter(installation(), "shop", names) for names in ({}, {"cart-v1": "cart"}))
    assert annotation(one, VERSION) != annotation(other, VERSION)


def test_it_says_what_was_asked_for() -> None:
    assert installation_in(sidecars_filter(installation(), "shop", {})) == installation()

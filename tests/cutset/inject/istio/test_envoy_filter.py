from tests.samples.istiod_patches import filter_names, patched

from cutset.inject.istio.envoy_filter import INBOUND, before_router, envoy_filter, first, merged_manager


def test_filters_come_in_the_order_in_which_they_are_given() -> None:
    filters = [{"name": "one"}, {"name": "two"}]
    found = envoy_filter("x", "shop", before_router(INBOUND, filters))
    assert filter_names(patched([found]), INBOUND) == ["one", "two", "envoy.filters.http.router"]
    found = envoy_filter("x", "shop", first(INBOUND, filters))
    assert filter_names(patched([found]), INBOUND) == ["one", "two", "envoy.filters.http.router"]


def test_it_is_for_the_namespace_or_for_the_pods_that_labels_choose() -> None:
    assert "workloadSelector" not in envoy_filter("x", "shop", [])["spec"]
    chosen = envoy_filter("x", "ingress", [], {"istio": "gateway"})["spec"]["workloadSelector"]
    assert chosen == {"labels": {"istio": "gateway"}}


def test_nothing_is_merged_where_there_is_nothing_to_merge() -> None:
    assert merged_manager(INBOUND, {}) == []

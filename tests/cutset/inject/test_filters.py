"""What these parts do is shown in a real Envoy by test_filter.py, test_sidecar.py and local/test_envoy.py."""

from cutset.inject import filters


def test_only_our_own_lua_can_ask_the_fault_filter():
    config = filters.fault_filter()["typed_config"]
    assert config["headers"] == [{"name": filters.GATE_HEADER, "string_match": {"exact": "1"}}]
    assert filters.GATE_HEADER in filters.HELPER_HEADERS


def test_no_filter_has_the_name_of_our_metadata():
    names = {filters.fault_filter()["name"], filters.own_span_filter()["name"]}
    assert names == {"cutset.fault", "cutset.span"}
    assert filters.told_tag("api")["metadata"]["metadata_key"]["key"] == "cutset"


def test_injected_failures_are_hidden_from_outlier_detection_in_both_protocols():
    assert "x-cutset-fault" in str(filters.blind_to_injected_failures("http")["outlier_detection"])
    hide, codec = filters.blind_to_injected_failures("grpc")["http_filters"]
    assert filters.HIDDEN_STATUS in str(hide)
    assert codec["name"] == "envoy.filters.http.upstream_codec"  # the last of upstream filters must be it

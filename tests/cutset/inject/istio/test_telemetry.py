from tests.samples.installations import installation

from cutset.inject.istio.telemetry import telemetry


def test_spans_of_servers_go_to_us_and_nobody_is_sampled() -> None:
    spec = telemetry(installation(), "shop")["spec"]
    assert spec == {
        "tracing": [{"match": {"mode": "SERVER"}, "providers": [{"name": "cutset"}], "randomSamplingPercentage": 0}]
    }


def test_all_are_sampled_where_that_is_wanted() -> None:
    (tracing,) = telemetry(installation(trace_all=True), "shop")["spec"]["tracing"]
    assert tracing["randomSamplingPercentage"] == 100

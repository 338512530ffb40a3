import json
from dataclasses import replace

from tests.samples.impacts import BEGIN, IMPACT

from cutset.report.impact.json import FORMAT, history_document, impact_document


def test_the_document_holds_all_numbers_and_nothing_that_json_cannot_hold() -> None:
    document = json.loads(json.dumps(impact_document(IMPACT, repeat="cutset impact x"), allow_nan=False))

    assert (document["format"], document["run"], document["verdict"]) == (FORMAT, IMPACT.run, "affected")
    assert document["settings"]["faults"] == ["currency/Convert:abort(503),30%"]
    assert document["settings"]["seconds"] == {"before": 20.0, "during": 60.0, "after": 20.0}
    assert document["marked"] == {"fault": 1210, "control": 1199}
    assert document["not_seen"] == {"fault": 6, "control": 1}
    assert document["unmarked"] == {"requests": 21600, "failed": 3}
    assert document["guard"]["name"] == "error-rate"
    assert document["calls"][0] == ["frontend/POST /cart/checkout", "checkout/PlaceOrder"]
    checkout, home = document["apis"][:2]
    assert checkout["fault"]["seconds"] == {"p50": 0.02, "p95": None, "p99": None}
    assert checkout["fault"]["success_rate"] == 0.701245
    assert checkout["interval_at_any_time"] == [0.20912, 0.3884]
    assert (checkout["interval_at_end"], home["interval_at_end"]) == (None, [-0.0094, 0.0051])
    assert checkout["failed_traces"][0] == {"trace": "000000000000000000000000000000a0"}
    assert [each["verdict"] for each in document["target"]] == [None]
    assert document["repeat"] == "cutset impact x"


def test_failed_traces_have_links_if_it_is_known_where_they_are() -> None:
    document = impact_document(IMPACT, "jaeger+http://jaeger:16686")

    trace = document["apis"][0]["failed_traces"][0]
    assert trace["link"] == f"http://jaeger:16686/trace/{trace['trace']}"


def test_the_history_tells_of_each_run_what_came_of_it() -> None:
    assert history_document([(BEGIN, replace(IMPACT, guard=None))]) == [
        {
            "run": IMPACT.run,
            "started_at": BEGIN,
            "verdict": "affected",
            "finished": True,
            "faults": ["currency/Convert:abort(503),30%"],
            "traffic": "live",
            "guard": None,
        }
    ]

from dataclasses import replace

from tests.samples.campaign import EVENTS

from cutset.model.summary import summarise
from cutset.report.campaign.gaps import asides, gaps


def test_everything_that_was_left_open_is_named() -> None:
    summary = summarise(EVENTS)
    home, pay, down = summary.requests

    assert gaps(home, summary) == []
    assert gaps(pay, summary) == [
        "the budget of experiments is spent",
        "unknown: x/Y: never fired: x/Y was not called",
        "predicted to fail, but not tried: a/1 + a/2",
        "predicted to fail, but not tried: a/1 + a/3",
        "predicted to fail, but not tried: b/1 + b/2 + b/3",
        "not coverable: GET /rates: called by pay at rates.example:443 past the mesh: no sidecar saw it",
        "not coverable: currency/Convert: called without the trace context, so no plan reaches it",
    ]
    assert asides(pay) == ["not coverable: redis: called by cart at 127.0.0.1:6379 directly"]
    assert gaps(down, summary) == ["unhealthy baseline: 3 of 3 without faults failed: 500 with `[bold]oops`"]
    assert gaps(home, replace(summary, finished=False)) == ["the campaign was interrupted"]

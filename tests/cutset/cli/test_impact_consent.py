import asyncio
import os
import sys
from dataclasses import replace

import pytest

from cutset.app.impact import ImpactForecast
from cutset.cli.impact_consent import confirm, forecast_lines, guards_in_words
from cutset.errors import UsageError
from cutset.guards.settings import GuardSettings, PrometheusCondition, UrlCondition, where_users_are

FORECAST = ImpactForecast("payment/Charge:abort(503),30%", 40.0, 150.0, 600, 240, where_users_are(GuardSettings()))


def test_users_are_told_how_many_and_what_stops_it() -> None:
    assert list(forecast_lines(FORECAST)) == [
        "[bold]payment/Charge:abort(503),30%[/]",
        "About 600 requests of users will be marked in 150 s, at 40 requests per second; 240 of them with the fault",
        "It ends at once",
        "- when more than 5 % of requests without the fault fail, of the last 30 s",
        "- when 20,000 requests are marked",
        "- when 500 requests with the fault fail",
        "- when no span arrives for 10 s",
        "- by Ctrl-C, or by `cutset halt` from another terminal",
        "- when this process ends, however it ends: the edge asks it about each request",
    ]


def test_where_users_are_not_seen_no_number_is_made_up() -> None:
    unseen = replace(FORECAST, per_second=0.0, marked=0, faulted=0)
    assert list(forecast_lines(unseen))[1] == (
        "Requests of users will be marked for 150 s, half of them with the fault"
    )


def test_every_guard_has_words() -> None:
    guards = GuardSettings(
        latency=0.5,
        prometheus=(PrometheusCondition("http://prometheus", "up", below=1.0),),
        urls=(UrlCondition("http://shop/health"),),
        hours="Mon-Fri 09:00-17:00",
    )
    assert list(guards_in_words(guards)) == [
        "more than one of 20 requests without the fault takes longer than 0.5 s, of the last 30 s",
        "Prometheus: up is below 1",
        "http://shop/health is not answered 200 within 2 s",
        "it is not Mon-Fri 09:00-17:00",
    ]


@pytest.mark.parametrize(
    ("answer", "goes_on"), [(b"y\n", True), (b"Yes\n", True), (b"\n", False), (b"no\n", False), (b"", False)]
)
def test_only_a_yes_goes_on(answer: bytes, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        os.write(writing, answer)
        os.close(writing)
        if goes_on:
            asyncio.run(confirm(FORECAST))
        else:
            with pytest.raises(UsageError, match="Nothing was injected"):
                asyncio.run(confirm(FORECAST))

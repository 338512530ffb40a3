from cutset.guards.settings import GuardSettings
from cutset.guards.telemetry import blind


def test_it_trips_when_marked_requests_are_not_seen_for_too_long() -> None:
    assert blind(10, GuardSettings(telemetry=10)) == ""
    assert blind(11, GuardSettings(telemetry=10)) == (
        "requests are marked, but no span came for 11 s: `telemetry` is 10 s"
    )
    assert blind(1000, GuardSettings()) == ""
    assert blind(1000, GuardSettings(telemetry=0)) == ""

from tests.samples.impacts import BEGIN, CHECKOUT, GIFTS, HOME, TARGET, impact_events

from cutset.model.impact import Group, GuardTripped, ImpactWindow, RequestsObserved, Tally, WindowEnded, WindowStarted
from cutset.model.point import Point
from cutset.report.impact.columns import ENOUGH, MOST_COLUMNS, impact_timelines

EVENTS = tuple(impact_events())


def test_every_request_is_counted_once_in_its_group() -> None:
    timelines = impact_timelines([HOME, CHECKOUT, TARGET], EVENTS)

    observed = [event for event in EVENTS if isinstance(event, RequestsObserved)]
    for timeline in timelines:
        for group in (Group.FAULT, Group.CONTROL):
            calls = [
                call
                for event in observed
                for request in event.requests
                for call in request.calls
                if request.group is group and call.api == timeline.api
            ]
            columns = timeline.columns[group].values()
            assert sum(column.requests for column in columns) == len(calls)
            assert sum(column.failed for column in columns) == sum(call.failed for call in calls)
            assert sum(len(column.seconds) for column in columns) == sum(not call.failed for call in calls)
        others = sum(tally.requests for event in observed for tally in event.others if tally.api == timeline.api)
        assert sum(column.requests for column in timeline.columns[Group.OTHERS].values()) == others


def test_no_column_reaches_from_one_window_into_the_next() -> None:
    for timeline in impact_timelines([HOME, CHECKOUT, GIFTS], EVENTS):
        assert {20.0, 80.0, 100.0} <= set(timeline.edges)
        assert len(timeline.edges) <= MOST_COLUMNS + len(timeline.windows)
        middle = timeline.edges.index(20.0)
        assert all(number >= middle for number in timeline.columns[Group.FAULT])


def test_rare_requests_have_wide_columns() -> None:
    home, gifts = impact_timelines([HOME, GIFTS], EVENTS)

    assert len(gifts.edges) < len(home.edges)
    columns = home.columns[Group.FAULT].values()
    assert sum(column.requests for column in columns) / len(columns) >= ENOUGH


def test_what_was_not_seen_or_has_not_begun_has_no_timeline() -> None:
    assert impact_timelines([Point.parse("nobody/Asked")], EVENTS) == []
    assert impact_timelines([HOME], EVENTS[:2]) == []


def test_what_was_cut_short_lasts_as_long_as_something_is_known() -> None:
    cut_short = [event for event in EVENTS[:50] if not isinstance(event, WindowEnded)]
    known = max(event.at for event in cut_short if isinstance(event, RequestsObserved)) - BEGIN
    [timeline] = impact_timelines([HOME], [*cut_short, GuardTripped(guard="halt", reason="", at=BEGIN + 44)])

    assert [span.window for span in timeline.windows] == [ImpactWindow.BEFORE, ImpactWindow.DURING]
    assert timeline.windows[0].end == timeline.windows[1].start == 20
    assert timeline.end == timeline.windows[1].end == known
    assert (timeline.guard, timeline.stopped_at) == ("halt", 44)


def test_a_second_without_requests_is_no_column() -> None:
    nothing = RequestsObserved(window=ImpactWindow.AFTER, at=BEGIN + 1, others=(Tally(HOME, 0, 0),))

    assert impact_timelines([HOME], [WindowStarted(window=ImpactWindow.AFTER, at=BEGIN), nothing]) == []


def test_each_step_of_a_ramp_is_a_window() -> None:
    [timeline] = impact_timelines([HOME], tuple(impact_events(shares=(0.001, 0.01, 0.05), marked_per_second=8)))

    assert [span.share for span in timeline.windows] == [0.0, 0.001, 0.01, 0.05, 0.0]
    assert [span.end for span in timeline.windows] == [20, 80, 140, 200, 220]

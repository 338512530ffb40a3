from hypothesis import given
from hypothesis import strategies as st

from cutset.reproduce.logs.difference import LogEntry
from cutset.reproduce.logs.timeline import align, failure_position, temporal_distance


def log(keys):
    """An entry for each key, ten lines apart."""
    return [LogEntry(key, "T", "T", 10 * (number + 1)) for number, key in enumerate(keys)]


def position(timeline, entries):
    """Of a visit after so many entries of the good run, each with all its lines."""
    return failure_position(timeline, 10 * entries + 9)


KEYS = st.text("abc", max_size=12)


def test_lines_that_both_logs_have_are_at_the_same_time():
    timeline = align(log("abcd"), log("axxbcyd"))
    assert [position(timeline, entries) for entries in range(5)] == [0, 1, 4, 5, 7]


def test_between_common_lines_time_is_stretched():
    timeline = align(log("a1234b"), log("a--b"))
    positions = [position(timeline, entries) for entries in range(1, 7)]
    assert positions == [1 + 3 / 5 * step for step in range(6)]


def test_after_the_last_common_line_time_goes_on_as_it_did_in_the_good_run():
    timeline = align(log("ab12"), log("xab"))
    assert [position(timeline, entries) for entries in (2, 3, 4, 9)] == [3, 4, 5, 5]


def test_an_entry_is_there_from_its_first_line_on():
    timeline = align(log("ab"), log("ab"))
    assert [failure_position(timeline, lines) for lines in (0, 9, 10, 19, 20, 99)] == [0, 0, 1, 1, 2, 2]


def test_entries_of_one_record_are_written_at_once():
    twice = [LogEntry(key, "T", "T", line) for key, line in [("a", 1), ("raised", 1), ("b", 5)]]
    assert [failure_position(align(twice, twice), lines) for lines in (0, 1, 4, 5)] == [0, 2, 2, 3]


@given(KEYS, KEYS)
def test_later_visits_are_never_placed_earlier(good, failure):
    timeline = align(log(good), log(failure))
    positions = [failure_position(timeline, lines) for lines in range(10 * len(good) + 30)]
    assert positions[0] >= 0
    assert positions == sorted(positions)


@given(KEYS)
def test_a_log_aligned_with_itself_keeps_its_time(keys):
    timeline = align(log(keys), log(keys))
    assert [position(timeline, entries) for entries in range(len(keys) + 1)] == list(range(len(keys) + 1))


def test_a_distance_counts_lines_to_the_observable_and_three_times_as_many_after_it():
    same = align(log("abcdef"), log("abcdef"))
    assert [temporal_distance(same, 10 * lines, [40]) for lines in range(7)] == [4, 3, 2, 1, 3, 6, 9]


def test_of_several_lines_of_an_observable_the_nearest_counts_and_before_is_nearer_than_after():
    same = align(log("abcdef"), log("abcdef"))
    assert [temporal_distance(same, 10 * lines, [10, 50]) for lines in range(7)] == [1, 3, 3, 2, 1, 3, 6]


def test_visits_beyond_the_end_of_the_failure_log_are_further_and_further_away():
    timeline = align(log("abcdef"), log("abx"))
    assert [temporal_distance(timeline, 10 * lines, [30]) for lines in (2, 3, 4, 5)] == [1, 3, 6, 9]


def test_an_observable_without_a_line_is_as_far_as_the_log_is_long():
    assert temporal_distance(align(log("ab"), log("abc")), 10, []) == 3


@given(KEYS, KEYS.filter(bool), st.integers(0, 20), st.sets(st.integers(0, 11), min_size=1))
def test_distances_are_positive_and_those_of_the_nearest_line(good, failure, lines, chosen):
    timeline = align(log(good), log(failure))
    observed = sorted({10 * (number % len(failure) + 1) for number in chosen})
    distance = temporal_distance(timeline, 10 * lines, observed)
    assert distance == min(temporal_distance(timeline, 10 * lines, [line]) for line in observed)
    assert distance > 0


def test_logs_are_as_alike_as_the_shorter_has_in_common_with_the_other():
    assert align(log("abcd"), log("abcdxxxxxx")).alike == 1
    assert align(log("abcd"), log("ab")).alike == 1
    assert align(log("abcd"), log("axyd")).alike == 0.5
    assert align(log("abcd"), []).alike == 0

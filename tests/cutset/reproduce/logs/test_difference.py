from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_python_log

from cutset.model.reproduction.log import LogRecord, Observable
from cutset.reproduce.logs import difference as log_diff
from cutset.reproduce.logs.difference import (
    LogEntry,
    keyed,
    matches,
    present,
    relevant_observables,
    surplus,
    text_keys,
    thread_family,
)

KEYS = st.lists(st.sampled_from("abcd"), max_size=9)


def entries(*threads_and_keys):
    """`T:abc` is three entries of thread T."""
    found = []
    for part in threads_and_keys:
        thread, keys = part.split(":")
        for key in keys:
            found.append(LogEntry(key, thread, thread_family(thread), len(found) + 1))
    return found


LOGS = st.lists(st.tuples(st.sampled_from(["A", "B", "Thread-1", "Thread-2"]), st.sampled_from("abc"))).map(
    lambda pairs: entries(*(f"{thread}:{key}" for thread, key in pairs))
)


def longest_by_brute_force(one, other):
    @cache
    def length(i, j):
        if not (i and j):
            return 0
        return max(length(i - 1, j), length(i, j - 1), length(i - 1, j - 1) + (one[i - 1] == other[j - 1]))

    return length(len(one), len(other))


def is_common_subsequence(pairs, one, other):
    rising = all(x < u and y < v for (x, y), (u, v) in pairwise(pairs))
    return rising and all(one[x] == other[y] for x, y in pairs)


@given(KEYS, KEYS)
def test_matches_are_a_longest_common_subsequence(one, other):
    pairs = matches(one, other)
    assert is_common_subsequence(pairs, one, other)
    assert len(pairs) == longest_by_brute_force(one, other) == len(matches(other, one))


@given(KEYS)
def test_a_log_matches_itself_line_by_line(keys):
    assert matches(keys, keys) == [(number, number) for number in range(len(keys))]


@pytest.mark.parametrize(("good", "failure", "extra"), [("ab", "abb", [2]), ("ab", "abab", [2, 3]), ("", "a", [0])])
def test_of_repeated_messages_the_last_ones_are_the_surplus(good, failure, extra):
    matched = {there for _, there in matches(good, failure)}
    assert sorted(set(range(len(failure))) - matched) == extra


@given(st.text("abc", max_size=60), st.text("abc", max_size=60))
def test_very_long_logs_are_matched_window_by_window(one, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_diff, "_WINDOW", 8)
        patch.setattr(log_diff, "_CELLS", 64)
        assert is_common_subsequence(matches(one, other), one, other)
        assert len(matches(one, one)) == len(one)


def test_a_window_finds_its_way_past_lines_that_one_log_lacks(monkeypatch):
    monkeypatch.setattr(log_diff, "_WINDOW", 8)
    monkeypatch.setattr(log_diff, "_CELLS", 64)
    good = [str(number) for number in range(100)]
    assert len(matches(good, [*good[:50], "x", "y", "z", *good[50:]])) == 100
    assert len(matches(good, good[:50] + good[53:])) == 97


def test_logs_of_very_many_lines_are_matched():
    lines = [f"line {number % 1000}" for number in range(60_000)]
    assert len(matches(lines, [*lines[:30_000], "extra", *lines[30_000:]])) == 60_000


@given(LOGS)
def test_a_log_has_nothing_beyond_itself(log):
    assert surplus(log, log) == []
    assert relevant_observables(log, log) == []


@given(LOGS, LOGS)
def test_messages_that_no_good_run_has_are_observables_and_what_it_has_at_least_as_often_may_not_be(good, failure):
    found = relevant_observables(good, failure)
    known = {entry.key for entry in good}
    assert {entry.key for entry in failure} - known <= {observable.key for observable in found}
    assert [observable.line for observable in found] == sorted(observable.line for observable in found)
    assert {(observable.key, observable.line) for observable in found} <= {(e.key, e.line) for e in failure}


@given(LOGS, LOGS, LOGS)
def test_another_good_run_only_ever_removes_observables(good, failure, other):
    assert set(relevant_observables(good, failure, other)) <= set(relevant_observables(good, failure))


@given(LOGS, LOGS)
def test_a_failure_that_is_like_another_good_run_has_no_observables(good, other):
    assert relevant_observables(good, other, other) == []


def test_threads_are_compared_one_by_one():
    good, failure = entries("A:ab", "B:xy"), entries("A:a", "B:xy", "A:b")
    assert relevant_observables(good, failure) == []
    assert [o.key for o in relevant_observables(good, entries("A:abx", "B:xy"))] == ["x"]


def test_a_thread_that_only_the_failure_log_has_contributes_all_its_messages():
    found = relevant_observables(entries("A:ab"), entries("A:ab", "rescue:ab"))
    assert found == [Observable("a", "rescue", 3), Observable("b", "rescue", 4)]


def test_threads_of_other_numbers_are_compared_as_one_family():
    good = entries("Thread-1:ab", "Thread-2:ab", "Thread-1:c", "Thread-2:c")
    assert relevant_observables(good, entries("Thread-7:abc", "Thread-9:abc")) == []
    assert [o.key for o in relevant_observables(good, entries("Thread-7:abc", "Thread-9:abcd"))] == ["d"]


def test_the_double_difference_removes_as_much_as_comes_and_goes_between_good_runs():
    good, other = entries("A:ab"), entries("A:abn")
    assert [o.key for o in relevant_observables(good, entries("A:anbx"))] == ["n", "x"]
    assert [o.key for o in relevant_observables(good, entries("A:anbx"), other)] == ["x"]
    assert [o.key for o in relevant_observables(good, entries("A:annbx"), other)] == ["n", "x"]


def test_a_run_shows_an_observable_if_it_has_more_of_it_than_a_good_run():
    good, failure = entries("A:ab"), entries("A:abbxxy")
    observables = relevant_observables(good, failure)
    run = entries("A:ab", "B:x")
    assert present(good, run, observables) == {"x"}
    assert present(good, failure, observables) == {"b", "x", "y"}
    assert present(good, good, observables) == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Thread-12", "Thread-7"),
        ("Thread-1 (run)", "Thread-23 (run)"),
        ("ThreadPoolExecutor-0_3", "ThreadPoolExecutor-1_0"),
        ("Task-7", "Task-1100"),
        ("4711/ForkPoolWorker-1", "12/ForkPoolWorker-2"),
        ("Process-1:2", "Process-3:1"),
        ("4711", "12"),
        ("4711/MainThread", "12/MainThread"),
        ("asyncio_3", "asyncio_0"),
        ("pool-2-thread-7", "pool-1-thread-1"),
        ("ForkJoinPool.commonPool-worker-1", "ForkJoinPool.commonPool-worker-3"),
        ("ForkJoinPool-1-worker-3", "ForkJoinPool-2-worker-1"),
        ("nioEventLoopGroup-3-2", "nioEventLoopGroup-2-1"),
        ("qtp123-45", "qtp77-12"),
        ("grpc-executor-3", "grpc-executor-0"),
        ("Timer-1", "Timer-0"),
    ],
)
def test_numbers_that_runtimes_give_do_not_tell_threads_apart(one, other):
    assert thread_family(one) == thread_family(other)
    assert thread_family(one) != thread_family("MainThread")


@pytest.mark.parametrize(
    "name", ["MainThread", "worker-3", "SyncThread:3", "conn 127.0.0.1:4000", "IPC handler 3 on 40112", ""]
)
def test_what_a_program_calls_its_threads_is_their_name(name):
    assert thread_family(name) == name


def test_threads_of_the_same_numbers_are_the_same():
    good, failure = entries("Thread-1:ab", "Thread-2:cd"), entries("Thread-1:cd", "Thread-2:ab")
    assert [o.key for o in relevant_observables(good, failure)] == ["c", "d", "a", "b"]
    # it is numbered from elsewhere
    assert relevant_observables(good, entries("Thread-4:ab", "Thread-5:cd")) == []
    assert relevant_observables(good, entries("Thread-2:ab", "Thread-3:cd")) == []


def test_a_pool_gives_work_to_whoever_is_free():
    good = entries("ThreadPoolExecutor-0_0:ab", "ThreadPoolExecutor-0_1:cd")
    failure = entries("ThreadPoolExecutor-0_0:a", "ThreadPoolExecutor-0_1:bcd")
    assert relevant_observables(good, failure) == []


def test_a_message_and_its_traceback_have_a_key_each():
    raised = "OSError raised in save"
    record = LogRecord(1, "T", "shop", "ERROR", "cannot save order 7\nmore", raised=raised)
    assert text_keys(record) == ["shop: cannot save order *", raised]
    assert text_keys(LogRecord(1, "", "", "", "", raised=raised)) == [raised]
    assert text_keys(LogRecord(1, "", "", "", "order 7 done")) == ["order * done"]


def test_keys_are_the_callers_if_given():
    records = read_python_log("INFO:shop:order 7\nprinted\nERROR:cart:gone")
    found = keyed(records, lambda record: [record.logger] if record.logger else [])
    assert [(entry.key, entry.line) for entry in found] == [("shop", 1), ("cart", 3)]

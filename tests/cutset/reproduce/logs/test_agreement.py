from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_python_log

from cutset.model.reproduction.result import LogAgreement, LogLine
from cutset.reproduce.logs.agreement import FaultyRun, agreement_with, said_early

ORDERS = ["up", *(f"order {number} is sent" for number in range(1, 6)), "down"]


def records(*messages, thread="MainThread"):
    levels = ["ERROR" if "lost" in message or "cannot" in message else "INFO" for message in messages]
    return read_python_log(
        [
            f"2026-11-16 03:00:00,{number:03} {level} [{thread}] shop: {message}"
            for number, (level, message) in enumerate(zip(levels, messages, strict=True))
        ]
    )


def agreement(good, failure, run, *other_good, before=0, chance=()):
    told = agreement_with([records(*each) for each in (good, *(other_good or (good,)))], records(*failure))
    return told([FaultyRun(records(*run), before)], chance)


def told_of(good, failure):
    told = agreement_with(good, failure)
    return lambda *runs: told([FaultyRun(run) for run in runs], ())


def lost(number):
    """The order with this number is lost."""
    return [f"order {number} is lost" if f"order {number} " in each else each for each in ORDERS]


def test_a_run_that_says_the_same_lacks_nothing_and_adds_nothing():
    found = agreement(ORDERS, lost(3), lost(3))
    assert found == (LogAgreement(explained=2), 0)  # one is lost, and one is not sent


def test_what_the_failure_log_has_and_the_run_has_not_is_lacking_by_its_first_line():
    failure = [*ORDERS, "cannot stop", "cannot stop", "disk is full"]
    found, unlike = agreement(ORDERS, failure, [*ORDERS, "disk is full"])
    assert found == LogAgreement(explained=1, lacking=(LogLine(8, "cannot stop"),), apart=2)
    assert unlike == 1


def test_what_the_run_has_and_the_failure_log_has_not_is_added():
    found, unlike = agreement(ORDERS, lost(3), [*lost(3), "cannot stop"])
    assert (found.added, found.lacking, unlike) == ((LogLine(8, "cannot stop"),), (), 1)


def test_what_the_run_does_not_lose_is_added_and_what_it_alone_loses_is_lacking():
    ends_early = ORDERS[:-1]
    assert agreement(ORDERS, ends_early, ORDERS)[0].added == (LogLine(7, "down"),)
    assert agreement(ORDERS, ORDERS, ends_early)[0].lacking == (LogLine(7, "down"),)


def test_lines_are_capped_but_their_number_is_not():
    words = ["".join(chr(ord("a") + int(digit)) for digit in str(number)) for number in range(50)]
    found, unlike = agreement(ORDERS, [*ORDERS, *(f"cannot {word}" for word in words)], ORDERS)
    assert len(found.lacking) == 20
    assert unlike == 50


def test_what_comes_and_goes_between_good_runs_counts_for_nothing():
    noisy = ["up", "slow", *ORDERS[1:]]
    assert agreement(ORDERS, lost(3), [*lost(3), "slow"], noisy) == (LogAgreement(explained=2), 0)


def test_victims_are_told_apart_by_their_names():
    (right, unlike), (wrong, other_unlike) = (agreement(ORDERS, lost(3), lost(number)) for number in (3, 4))
    assert unlike == other_unlike == 0
    assert right.values == 0
    assert wrong.values == 2  # which one is lost, which ones are sent


def test_a_number_that_good_runs_agree_on_should_be_the_same():
    good, failure = [*ORDERS, "sent 5 of 5 in 12 ms"], [*ORDERS, "sent 4 of 5 in 17 ms"]
    other = [*ORDERS, "sent 5 of 5 in 99 ms"]
    assert agreement(good, failure, [*ORDERS, "sent 4 of 5 in 3 ms"], other)[0].values == 0
    assert agreement(good, failure, [*ORDERS, "sent 3 of 5 in 3 ms"], other)[0].values == 1


def test_a_number_that_good_runs_do_not_agree_on_may_be_any():
    good, other = ([*ORDERS, f"queue has {number} left"] for number in (7, 8))
    assert agreement(good, [*good[:-1], "queue has 9 left"], [*good[:-1], "queue has 1 left"], other)[0].values == 0


def test_times_addresses_and_identities_of_processes_tell_nothing_apart():
    said = "cannot reach 127.0.0.1:{port}: pid {pid}, <Job object at {at}>, waited {waited} s, see /tmp/{folder}/x.log"
    one = said.format(port=40_123, pid=7, at="0x7f00", waited=1.25, folder="a")
    other = said.format(port=50_456, pid=8, at="0x7f11", waited=2, folder="b")
    assert agreement(ORDERS, [*ORDERS, one], [*ORDERS, other]) == (LogAgreement(explained=1), 0)


def test_where_good_runs_are_in_order_a_message_in_another_place_is_another():
    plain = ["tick", "tock"] * 4
    early, late = [*plain[:2], "link is lost", *plain[2:]], [*plain[:6], "link is lost", *plain[6:]]
    assert agreement(plain, early, early) == (LogAgreement(explained=1), 0)
    found, unlike = agreement(plain, early, late)
    assert unlike == 0
    assert found.values > 0
    # where they are not, it may be chance
    assert agreement(plain, early, late, ["tock", "tick"] * 4)[0].values == 0


def test_a_traceback_that_is_lacking_is_named_by_its_exception():
    good = records("up")
    trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in save', "OSError: full"]
    line = "2026-11-16 03:00:00,001 ERROR [MainThread] shop: cannot save"
    found, unlike = told_of([good, good], read_python_log([line, *trace]))(read_python_log([line]))
    assert found.lacking == (LogLine(1, "OSError raised in save: full"),)
    assert unlike == 1


def test_an_exception_that_says_something_else_is_another():
    line = "2026-11-16 03:00:00,001 ERROR [MainThread] shop: cannot save"
    trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in save', "OSError: full at 0x7f00"]
    failure = told_of([records("up")] * 2, read_python_log([line, *trace]))
    assert failure(read_python_log([line, *trace[:2], "OSError: full at 0x7f33"])) == (LogAgreement(explained=3), 0)
    found, unlike = failure(read_python_log([line, *trace[:2], "OSError: no such device"]))
    assert (found.values, unlike) == (0, 1)
    assert found.lacking == (LogLine(1, "OSError raised in save: full at 0x7f00"),)
    numbered = told_of([records("up")] * 2, read_python_log([line, *trace[:2], "OSError: order 7 is gone"]))
    found, unlike = numbered(read_python_log([line, *trace[:2], "OSError: order 8 is gone"]))
    assert (found.values, unlike) == (1, 0)


def test_what_one_run_with_a_fault_lacks_or_adds_and_another_does_not_is_chance():
    failure = told_of([records(*ORDERS)] * 2, records(*lost(3)))
    late = [*lost(3), "cannot stop"]
    assert failure(records(*late))[1] == 1
    assert failure(records(*late), records(*lost(3))) == (LogAgreement(explained=2), 0)
    assert failure(records(*lost(4)), records(*lost(3)))[0].values == 0
    assert failure(records(*lost(4)), records(*lost(2)))[0].values > 0
    assert failure(*[records(*late)] * 3)[0].added == (LogLine(8, "cannot stop"),)


def test_a_value_that_differs_between_runs_with_one_fault_is_chance():
    left = [[*lost(3), f"cannot stop: {seconds} of its time are left"] for seconds in (2794, 2801, 2788)]
    failure = told_of([records(*ORDERS)] * 2, records(*left[0]))
    assert failure(records(*left[1]))[0].values == 1
    assert failure(*[records(*left[1])] * 3)[0].values == 1
    found, unlike = failure(records(*left[1]), records(*left[2]))
    assert found.values == unlike == 0


def test_entries_that_are_apart_tell_which_moment_is_nearer():
    def ends_after(number):
        return [*ORDERS[: number + 1], "link is lost"]

    apart = [agreement(ORDERS, ends_after(2), ends_after(number))[0].apart for number in range(5)]
    assert apart == [2, 1, 0, 1, 2]
    noisy = [*ORDERS, "order 1 is sent"]
    assert agreement(ORDERS, ends_after(2), ends_after(3), noisy)[0].apart == 0


def test_what_a_run_says_before_its_fault_fires_is_not_of_the_fault():
    warm = ["cache is cannot", *lost(3)]
    assert agreement(ORDERS, lost(3), warm)[1] == 1
    assert agreement(ORDERS, lost(3), warm, before=1)[1] == 0
    assert agreement(ORDERS, lost(3), [*lost(3), "cache is cannot"], before=1)[1] == 1


def test_values_of_another_machine_are_no_contradiction_if_they_come_before_both_faults():
    here, there = ([f"home is /of/{name} with {cores} cores", *ORDERS] for name, cores in (("us", 2), ("them", 64)))
    failure = [there[0], *lost(3)]
    run = [here[0], *lost(3)]
    assert agreement(here, failure, run)[0].values == 1
    assert agreement(here, failure, run, before=3)[0].values == 0
    assert (
        agreement(here, [*lost(3), there[0]], [*lost(3), here[0]], before=8)[0].values == 1
    )  # it may be a consequence


def test_what_is_said_more_often_later_is_no_news_where_it_was_said_first():
    here, there = ([f"home is /of/{name} with {cores} cores", *ORDERS] for name, cores in (("us", 2), ("them", 64)))
    at_start, at_end = (["up", each[0], *lost(3)[1:], "up"] for each in (here, there))
    assert agreement(["up", here[0], *ORDERS[1:]], at_end, at_start, before=4)[0].values == 0


def test_what_another_machine_calls_otherwise_before_its_failure_it_calls_so_later_too():
    here, there = (
        [f"server runs on kernel={kernel}", *lost(3), f"client runs on kernel={kernel}"]
        for kernel in ("6.1-ours", "5.4-theirs")
    )
    good = [here[0], *ORDERS, here[-1]]
    assert agreement(good, there, here, before=3) == (LogAgreement(explained=2), 0)
    assert agreement(good, there[1:], here, before=3)[0].values == 1  # nothing tells that it is of the machine
    assert agreement(good, [*there[:-1], "client runs on kernel=5.4-other"], here, before=3)[0].values == 1


def test_a_fault_that_comes_too_late_does_not_explain_what_was_said_before():
    good = [*ORDERS, "sent 5 of 5"]
    failure = [*lost(3), "sent 4 of 5"]
    found, unlike = agreement(good, failure, [*good, "order 6 is lost"], before=8)
    assert (unlike, found.values) == (1, 2)  # all were sent; which order it was, and how many were sent
    assert agreement(good, failure, good, before=8)[1] > 0


def test_what_several_runs_say_before_their_faults_fire_is_chance():
    electing = ["cannot reach 1", *ORDERS]
    good = [records(*ORDERS)] * 2
    assert said_early(good, FaultyRun(records(*electing, "cannot stop"), 3)) == {"shop: cannot reach *"}
    assert agreement(ORDERS, ["cannot reach 1", *lost(3)], lost(3))[1] == 1
    assert agreement(ORDERS, ["cannot reach 1", *lost(3)], lost(3), chance={"shop: cannot reach *"})[1] == 0


LOGS = st.lists(st.sampled_from(["up", "down", "order 1 is sent", "order 2 is sent", "lost"]), max_size=8)


@given(LOGS, LOGS, LOGS)
def test_a_log_always_agrees_with_itself(good, other, failure):
    found, unlike = agreement(good, failure, failure, other)
    assert unlike == found.values == 0


@given(LOGS, LOGS, LOGS, LOGS)
def test_what_is_shown_is_what_is_counted(good, other, failure, run):
    found, unlike = agreement(good, failure, run, other)
    assert unlike == len(found.lacking) + len(found.added)
    back, back_unlike = agreement(good, run, failure, other)
    assert (back_unlike, back.explained) == (unlike, found.explained)


def test_what_is_done_together_otherwise_each_time_contradicts_nothing():
    one, other = ["up", "removed [a, b]", "removed [c]", "down"], ["up", "removed [a]", "removed [b, c]", "down"]
    failure = ["up", "removed [b]", "removed [c, a]", "order is lost", "down"]
    run = ["up", "removed [a, b, c]", "order is lost", "down"]
    assert agreement(one, failure, run, other) == (LogAgreement(explained=1), 0)
    found, unlike = agreement(one, [*failure[:2], "removed [x]", *failure[3:]], run, other)
    assert (unlike, found.lacking) == (1, (LogLine(3, "removed [x]"),))

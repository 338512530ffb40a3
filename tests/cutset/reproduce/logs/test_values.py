import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.reproduce.logs.values import lasting, other_words, sanitise, steady_values


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("took 3.5 ms, -1e-05 left", "took * ms, * left"),
        ("worker 3f2a1b9c is up", "worker * is up"),
        ("<Job object at 0x7f38f8d73810>", "<Job object at *>"),
        ("message 3f2a1b9c-abcd-beef-dead-e0116dc3387b lost", "message * lost"),
        ("connected to 127.0.0.1:5000 and [fe80::1]:80", "connected to * and [*]:*"),
        ("found ['lobby', 'floor1'] in {'a': 1}", "found [*] in {*}"),
        ("cannot open /var/lib/x.db or ./y or C:\\z", "cannot open * or * or *"),
        ("GET https://example.org/a?b=c failed", "GET * failed"),
        ("next run at 2026-11-15 19:29:26.958066+00:00 (in 2s)", "next run at * (in *)"),
        ("expires Sat, 15 Nov 2026 19:29:26 GMT", "expires * GMT"),
        ("used 12.5MB of 2 GiB", "used * of * GiB"),
        ("can't reach user's queue 'mail'", "can't reach user's queue *"),
        ("mail to ann@example.org bounced", "mail to * bounced"),
        ("os.version=6.1.0-18-generic, 2.0-SNAPSHOT", "os.version=*"),
        ("by Shop$$Lambda$92/0x00007fde70087000@5d740a0f", "by Shop$$*"),
        ("by Shop$$Lambda/0x000077a10c00a3f8@1b2c6ec2", "by Shop$$*"),  # Java 21 and later
    ],
)
def test_what_differs_between_runs_is_replaced(message, expected):
    assert sanitise(message) == expected


@given(st.integers(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.uuids(), st.uuids())
def test_messages_that_differ_in_values_only_are_the_same(one, other, number, left, right):
    assert sanitise(f"job {left} of {one}: {number!r} s") == sanitise(f"job {right} of {other}: 1.5 s")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("callback wakeup(<apscheduler....x7f38f8d73810>)()", "callback wakeup(<apscheduler....x7f1192d7aa10>)()"),
        ("request from ('127.0.0.1', 43112)", "request from ('127.0.0.1', 51004)"),
        ("order 7 took 0.3 s", "order 7 took 12.75 s"),
    ],
)
def test_what_is_another_in_each_run_does_not_last(one, other):
    assert lasting(one) == lasting(other)


def test_what_tells_one_victim_from_another_lasts():
    assert lasting("order 7 of ('shop', 12) is lost") != lasting("order 8 of ('shop', 12) is lost")


def test_where_good_runs_agree_all_counts_but_where_the_program_is_and_which_worker_it_was():
    steady = steady_values([{"app *": {"app at /home/ann/app/main.py: 3 of 4"}}] * 2)
    assert steady("app *", "app at /srv/main.py: 3 of 4") == steady("app *", "app at /home/ann/app/main.py: 3 of 4")
    kept = steady_values([{"* kept *": {"SpawnPoolWorker-1: kept order 0"}}] * 2)
    assert kept("* kept *", "SpawnPoolWorker-2: kept order 0") == kept("* kept *", "SpawnPoolWorker-1: kept order 0")
    assert kept("* kept *", "SpawnPoolWorker-1: kept order 1") != kept("* kept *", "SpawnPoolWorker-1: kept order 0")
    assert steady("app *", "app at /srv/main.py: 2 of 4") != steady("app *", "app at /home/ann/app/main.py: 3 of 4")
    assert steady("app *", "app at /srv/other.py: 3 of 4") != steady("app *", "app at /home/ann/app/main.py: 3 of 4")


def test_names_of_another_machine_are_put_into_our_words_and_nothing_else_is():
    ours = {"on *": {"on host-1 as ann7, 3 cores"}, "order *": {"order a1 is sent"}, "kept *": {"kept b2 of host-1"}}
    theirs = {"on *": {"on node-9 as root0, 8 cores"}, "order *": {"order b2 is sent"}, "kept *": {"kept b2 of node-9"}}
    in_our_words = other_words(ours, theirs, theirs)
    assert in_our_words("node-9: root0 has 8 orders, 3 of [node-9]") == "host-1: ann7 has 8 orders, 3 of [host-1]"
    assert in_our_words("order b2 is lost") == "order b2 is lost"  # both know it
    assert other_words(ours, theirs, ())("node-9") == "node-9"


TEXTS = st.dictionaries(st.sampled_from("abc"), st.sets(st.text("x1 ="), min_size=1, max_size=2))


@given(TEXTS, TEXTS, st.text("x1 ="))
def test_words_that_we_have_too_stay(ours, theirs, text):
    (ours_to_them, theirs_to_us) = other_words(ours, theirs, ours), other_words(ours, ours | theirs, ours | theirs)
    known = {word for texts in ours.values() for each in texts for word in each.replace("=", " ").split()}
    if set(text.replace("=", " ").split()) <= known:
        assert ours_to_them(text) == theirs_to_us(text) == text

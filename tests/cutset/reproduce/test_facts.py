from itertools import chain

from tests.samples.small_programs import read_app, read_python_log

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import FaultKind, Visit
from cutset.reproduce.facts import _less_telling, choose_reader, gather_facts, is_absent
from cutset.reproduce.python.front_end import PythonAnalysis

WORKER = """
import logging, socket

log = logging.getLogger("app")

def ticker(sock):
    while True:
        sock.recv(1)
        log.info("tick")

def orders(sock, n):
    try:
        sock.sendall(b"x")
    except OSError as error:
        log.error("order %s lost: %s", n, error)
    log.info("order %s", n)
"""
LINE = "2026-11-16 03:00:{:02},000 {} [MainThread] app: {}"


def log_of(*messages):
    levels = ["ERROR" if "lost" in message else "INFO" for message in messages]
    lines = enumerate(zip(levels, messages, strict=True))
    return read_python_log("".join(LINE.format(number, *entry) + "\n" for number, entry in lines))


def prepared(tmp_path, failure, *good, symptoms=()):
    program = PythonAnalysis(read_app(tmp_path, WORKER), [])
    reader = choose_reader(program, failure, good)
    effects = program.effects(failure, frozenset(FaultKind), 1.0)
    found = gather_facts(
        program, reader, failure, [reader.entries(each) for each in good], effects=effects, symptoms=symptoms
    )
    return program, reader, found


GOOD = log_of("tick", "order 1", "tick", "order 2", "tick", "order 3", "tick", "order 4")


def test_a_new_message_is_what_has_to_be_explained(tmp_path):
    failure = log_of("tick", "order 1", "tick", "order 2 lost: reset", "order 2", "tick", "order 3", "tick", "order 4")
    program, reader, found = prepared(tmp_path, failure, GOOD, GOOD)

    assert [each.line for each in found.observables] == [4]
    assert list(reader.texts_of(found.observables, failure).values()) == ["order 2 lost: reset"]
    near = {program.sites[number].expression: facts.distances for number, facts in enumerate(found.sites)}
    assert list(near["sock.sendall"].values()) == [2]
    assert not found.few


def test_where_nothing_is_new_what_is_missing_has_to_be_explained(tmp_path):
    failure = log_of("tick", "order 1", "order 2", "order 3", "order 4")
    program, reader, found = prepared(tmp_path, failure, GOOD, GOOD)

    [missing] = found.observables
    assert is_absent(missing)
    assert reader.texts_of([missing], failure) == {missing.key: "tick"}
    assert missing.line == 3  # after `order 1`, where the good run has the first that is lacking
    near = {program.sites[number].expression: facts.distances for number, facts in enumerate(found.sites)}
    assert near["sock.recv"]
    assert not near["sock.sendall"]


def test_a_run_shows_what_is_missing_by_missing_it(tmp_path):
    failure = log_of("tick", "order 1", "order 2", "order 3", "order 4")
    _, reader, found = prepared(tmp_path, failure, GOOD, GOOD)
    good, failed = reader.entries(GOOD), reader.entries(failure)

    assert found.shown(good, failed) == {found.observables[0].key}
    assert found.shown(good, good) == frozenset()


def test_what_varies_between_good_runs_is_not_missed(tmp_path):
    other = log_of("tick", "order 1", "order 2", "order 3", "order 4")
    failure = log_of("tick", "order 1", "tick", "order 2", "order 3", "order 4")
    _, _, found = prepared(tmp_path, failure, GOOD, other)

    assert found.observables == ()


def test_a_visit_is_the_nearer_to_a_message_the_fewer_lines_are_between(tmp_path):
    failure = log_of("tick", "order 1", "tick", "order 2 lost: reset", "order 2", "tick", "order 3", "tick", "order 4")
    _, _, found = prepared(tmp_path, failure, GOOD, GOOD)
    key = found.observables[0].key

    apart = [found.apart(Visit(0, 1, lines, 0, "MainThread"), key) for lines in range(4)]
    assert apart[3] == min(apart)
    assert apart == sorted(apart, reverse=True)


def test_what_is_missing_in_between_is_missed_there(tmp_path):
    failure = log_of("tick", "order 1", "order 2", "tick", "order 3", "tick", "order 4")
    _, _, found = prepared(tmp_path, failure, GOOD, GOOD)
    assert [each.line for each in found.observables] == [3]


def test_what_is_missing_again_and_again_is_missed_from_there_on_and_not_where_one_came_late(tmp_path):
    good = log_of(*(text for number in range(1, 9) for text in ("tick", f"order {number}")))
    late = ["order 1", "tick", "order 2", "tick"]  # the other way round than in the good run
    failure = log_of(*late, "order 3", "tick", *(f"order {number}" for number in range(4, 9)))
    _, _, found = prepared(tmp_path, failure, good, good)
    missing = [each.line for each in found.observables if is_absent(each)]
    assert missing == [8]  # after `order 4`


def test_where_a_number_differs_that_good_runs_agree_on_it_has_to_be_explained(tmp_path):
    failure = log_of("tick", "order 1", "tick", "order 2", "tick", "order 3", "tick", "order 9")
    _, reader, found = prepared(tmp_path, failure, GOOD, GOOD)

    assert list(reader.texts_of(found.observables, failure).values()) == ["order 9"]
    ((begin,),) = found.graph.sources.values()
    assert found.graph.step(begin).text == "log.info"
    good, failed = reader.entries(GOOD), reader.entries(failure)
    assert found.shown(good, failed) == {found.observables[0].key}
    assert found.shown(good, good) == frozenset()


def test_another_word_in_the_same_statement_has_to_be_explained(tmp_path):
    good = log_of("tick", "order 1 lost: timeout", "order 1", "order 2")
    failure = log_of("tick", "order 1 lost: refused", "order 1", "order 2")
    _, reader, found = prepared(tmp_path, failure, good, good)
    assert list(reader.texts_of(found.observables, failure).values()) == ["order 1 lost: refused"]


def test_where_good_runs_do_not_agree_on_a_number_the_lines_that_the_oracle_sees_have_to_be_explained(tmp_path):
    other = log_of("tick", "order 1", "tick", "order 2", "tick", "order 3", "tick", "order 5")
    failure = log_of("tick", "order 1", "tick", "order 2", "tick", "order 3", "tick", "order 9")
    _, reader, found = prepared(tmp_path, failure, GOOD, other, symptoms=[8])

    assert list(reader.texts_of(found.observables, failure).values()) == ["order 9"]
    assert prepared(tmp_path, failure, GOOD, other)[2].observables == ()


def test_values_that_are_all_others_are_of_another_workload(tmp_path):
    orders = [f"order {number}" for number in range(4)]
    failure = log_of("tick", *(f"order {number}" for number in range(100, 109)))
    _, _, found = prepared(tmp_path, failure, *[log_of("tick", *orders)] * 2)
    assert len({each.key for each in found.observables}) == 1  # by their statement: there are more of them


def test_a_message_matches_the_same_one_with_a_traceback(tmp_path):
    line = next(site.line for site in read_app(tmp_path, WORKER).sites if site.expression == "sock.sendall")
    said = LINE.format(1, "ERROR", "order 2 lost: reset")
    trace = f'\nTraceback (most recent call last):\n  File "/x/app.py", line {line}, in orders\nOSError: reset\n'
    failure = read_python_log(said + trace)
    _, reader, found = prepared(tmp_path, failure, GOOD, GOOD)

    texts = reader.texts_of(found.observables, failure)
    assert list(texts.values()) == ["order 2 lost: reset", "OSError raised in orders"]
    shown = found.shown(reader.entries(GOOD), reader.entries(read_python_log(said)))
    assert [texts[key] for key in shown] == ["order 2 lost: reset"]


def test_what_a_stack_trace_shows_is_the_first_to_try_there(tmp_path):
    line = next(site.line for site in read_app(tmp_path, WORKER).sites if site.expression == "sock.recv")
    failure = read_python_log(
        LINE.format(1, "ERROR", "stopped")
        + f'\nTraceback (most recent call last):\n  File "/x/app.py", line {line}, in ticker\n    sock.recv(1)\n'
        "BlockingIOError: [Errno 11] Resource temporarily unavailable\n"
    )
    _, _, found = prepared(tmp_path, failure, GOOD, GOOD)
    [facts] = [facts for facts in found.sites if facts.name.endswith("sock.recv")]
    assert facts.effects[0] == "BlockingIOError(11, 'Resource temporarily unavailable')"
    assert facts.costs[0] == 0


def test_a_series_that_breaks_off_is_missed_when_the_next_was_due_whatever_the_order_of_others(tmp_path):
    steps = [["tick", f"order {number}", f"order {number + 20}"] for number in range(10)]
    other_order = [step[1:] + step[:1] for step in steps]
    failing = [*other_order[:4], *(step[1:] for step in steps[4:])]
    good, other_good, failure = (log_of(*chain.from_iterable(each)) for each in (steps, other_order, failing))
    found = prepared(tmp_path, failure, good, other_good)[2]
    missing = [each.line for each in found.observables if is_absent(each)]
    assert missing == [15]  # the last came in line 12, and they come every third line


def test_calm_messages_tell_less_than_warnings_and_later_warnings_less_than_the_first():
    failure = log_of("tick", "hello", "order 1", "order 1 lost: reset", "order 2", "bye lost", "tick")
    observables = [Observable("hello", "", 2), Observable("lost", "", 4), Observable("bye", "", 6)]
    assert _less_telling(observables, failure) == {"hello": 3, "lost": 0, "bye": 1}
    assert _less_telling(observables[:1], failure) == {"hello": 0}  # where nothing warns, all are alike

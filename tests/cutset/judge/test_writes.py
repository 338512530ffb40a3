from cutset.judge.learnt import in_words
from cutset.judge.rules import Baseline, judge, sharpened
from cutset.judge.writes import Operations, is_kept, is_write, lost_writes, narrowed_writes, usual_writes
from cutset.model.drill import ObservedOperation
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response

PUBLISH, STORE = "mq/nats/publish", "db/psycopg/execute"


def call(endpoint: str, *, failed: bool = False, fault: str = "", at: float = 0.0, **facts: str) -> ObservedOperation:
    return ObservedOperation(endpoint, 1, at, 0.01, failed, fault, facts=facts)


def run(*operations: ObservedOperation, service: str = "orders") -> Operations:
    return {service: tuple(operations)}


INSERT = call(STORE, verb="INSERT", peer="shop", rows="1")
READ = call(STORE, verb="SELECT", peer="shop")
PUBLISHED = call(PUBLISH, peer="orders.placed", at=1.0)
GOOD = run(READ, INSERT, PUBLISHED)
USUAL = usual_writes([GOOD, GOOD, GOOD])


ALL = frozenset({"orders"})


def told(now: Operations, certain: frozenset[str] = ALL) -> str:
    return in_words(lost_writes(USUAL, now, certain))


def test_a_run_that_writes_what_every_run_writes_has_lost_nothing() -> None:
    assert told(GOOD) == ""
    assert told(run(INSERT, PUBLISHED)) == ""  # a read that is not needed is no loss


def test_a_write_that_failed_behind_the_answer_is_lost() -> None:
    assert told(run(READ, INSERT, call(PUBLISH, failed=True, peer="orders.placed"))) == (
        "`orders>mq/nats/publish orders.placed` failed"
    )


def test_a_write_that_was_not_made_is_lost_if_the_trace_is_whole() -> None:
    assert told(run(READ, PUBLISHED)) == "`orders>db/psycopg/execute shop` (INSERT) was not made"
    assert told(run(READ, PUBLISHED), frozenset()) == ""
    assert told({}) == (
        "`orders>db/psycopg/execute shop` (INSERT) was not made; `orders>mq/nats/publish orders.placed` was not made"
    )


def test_what_was_repeated_or_done_although_its_answer_was_lost_is_not_lost() -> None:
    failed = call(PUBLISH, failed=True, peer="orders.placed")
    assert told(run(READ, INSERT, failed, PUBLISHED)) == ""
    done = call(STORE, verb="INSERT", failed=True, fault="lost-answer", peer="shop")
    assert told(run(READ, done, PUBLISHED)) == ""


def test_what_another_write_made_up_for_is_not_lost() -> None:
    failed = call(PUBLISH, failed=True, peer="orders.placed")
    outbox = call(STORE, verb="INSERT", peer="shop", rows="1", at=2.0)
    assert told(run(READ, INSERT, failed, outbox)) == ""
    second_broker = call("mq/aiokafka/send_and_wait", peer="orders")
    assert told(run(READ, INSERT, failed, second_broker)) == ""


def test_what_is_not_committed_did_not_take_effect() -> None:
    commit = call("db/psycopg/commit", peer="shop", at=2.0)
    usual = usual_writes([run(INSERT, commit)] * 2)
    assert in_words(lost_writes(usual, run(INSERT), ALL)) == (
        "`orders>db/psycopg/execute shop` (INSERT) was not committed"
    )
    failed = call("db/psycopg/commit", peer="shop", failed=True, at=2.0)
    assert "(INSERT) was not committed" in in_words(lost_writes(usual, run(INSERT, failed), ALL))


def test_only_what_every_run_writes_can_be_lost() -> None:
    usual = usual_writes([GOOD, run(INSERT)])
    assert lost_writes(usual, run(INSERT), ALL) == []
    assert lost_writes(narrowed_writes(USUAL, run(INSERT)), run(INSERT), ALL) == []
    assert lost_writes(usual_writes([]), GOOD, ALL) == []


def test_entries_of_a_cache_cannot_be_lost_but_queues_and_counters_can() -> None:
    assert not is_write(call("cache/redis/set"))
    assert not is_kept("cache/redis/set")
    assert is_write(call("cache/redis/hincrby"))
    usual = usual_writes([run(call("cache/redis/set"), call("cache/redis/rpush", peer="jobs"))])
    assert in_words(lost_writes(usual, {}, ALL)) == "`orders>cache/redis/rpush jobs` was not made"


def test_what_is_called_remotely_is_for_its_own_agent_to_tell() -> None:
    usual = usual_writes([run(call("rpc/httpx/POST /orders"))])
    assert lost_writes(usual, {}, ALL) == []


def test_an_answer_as_ever_behind_which_a_write_is_lost_is_degraded() -> None:
    baseline = Baseline(frozenset({200}), 0.1, frozenset(), writes=USUAL)
    response, lost = Response(200, "text/plain", b"thanks"), run(READ, INSERT)
    judged = judge(response, Expectation(), baseline, lost, ALL)
    assert (judged.verdict, judged.reason) == (
        Verdict.DEGRADED,
        "200, but `orders>mq/nats/publish orders.placed` was not made",
    )
    assert judge(response, Expectation(), baseline).verdict is Verdict.SURVIVED
    known = sharpened(baseline, response, lost)
    assert judge(response, Expectation(), known, lost, ALL).verdict is Verdict.SURVIVED

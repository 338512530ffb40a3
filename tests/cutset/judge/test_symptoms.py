"""Each symptom, and what looks like it but is none."""

from dataclasses import replace

import pytest
from tests.samples.drill import TEST, drill, operation, sample

from cutset.judge.phases import judge_drill
from cutset.judge.symptoms import is_repeatable
from cutset.model.drill import DrillTest, DrillVerdict, ObservedOperation, Phase, Sample, Symptom, point_of

PUBLISH = replace(TEST, point=point_of("shop", "mq/nats/publish"), fault="broker-unavailable")
INSERT = replace(TEST, fault="lost-answer", repeatable=is_repeatable("INSERT INTO payments VALUES (%s, %s)"))
CACHE = replace(TEST, point=point_of("shop", "cache/redis/get"), fault="connection-refused")


def symptoms(test: DrillTest, samples: list[Sample]) -> list[Symptom]:
    return [finding.symptom for finding in judge_drill(test, samples).findings]


def hit(test: DrillTest, *operations: ObservedOperation, before: tuple[ObservedOperation, ...], **answer: object):
    """Runs in which the fault fires, as the last of the operations given, between healthy ones."""
    return drill(
        startup=lambda number: sample(Phase.STARTUP, number, *before),
        fault=lambda number: sample(Phase.FAULT, number, *operations, **answer),
        recovery=lambda number: sample(Phase.RECOVERY, number, *before),
    )


def test_answers_after_the_limit_are_a_hang() -> None:
    fired = operation(fault=TEST.fault)

    assert symptoms(TEST, hit(TEST, fired, before=(operation(),), seconds=5.2)) == [Symptom.HANG]
    assert symptoms(TEST, hit(TEST, fired, before=(operation(),), seconds=4.0, status=503)) == []


def test_requests_that_are_never_answered_prove_that_the_call_waits_for_good() -> None:
    test = replace(TEST, fault="no-answer")
    samples = hit(test, before=(operation(),), status=0, seconds=5.0, error="no whole answer within 5s")

    assert symptoms(test, samples) == [Symptom.HANG]


def test_a_call_that_never_ends_is_known_by_its_absence_and_only_where_requests_fail() -> None:
    test = replace(TEST, point=point_of("shop", "mq/nats/handle"), fault="serialization")
    failing = hit(test, before=(operation(test.endpoint),), status=503)
    unharmed = hit(test, before=(operation(test.endpoint),))

    assert judge_drill(test, failing).phases[1].fired == 100
    assert judge_drill(test, unharmed).verdict is DrillVerdict.UNKNOWN


def test_a_cache_that_takes_the_request_down_is_not_survived() -> None:
    usual, fired = operation(CACHE.endpoint), operation(CACHE.endpoint, fault=CACHE.fault)

    assert symptoms(CACHE, hit(CACHE, fired, before=(usual,), status=500)) == [Symptom.NOT_SURVIVED]
    assert symptoms(CACHE, hit(CACHE, fired, before=(usual,), status=200)) == []


def test_a_queue_in_redis_is_no_cache() -> None:
    queue = replace(CACHE, point=point_of("shop", "cache/redis/rpush"))
    usual, fired = operation(queue.endpoint), operation(queue.endpoint, fault=queue.fault, failed=True)

    assert symptoms(queue, hit(queue, fired, before=(usual,), status=503)) == []
    assert symptoms(queue, hit(queue, fired, before=(usual,))) == [Symptom.SILENT_LOSS]


def test_a_database_may_take_the_request_down_cleanly_but_not_the_connection() -> None:
    fired = operation(fault=TEST.fault)

    assert symptoms(TEST, hit(TEST, fired, before=(operation(),), status=503)) == []
    assert symptoms(TEST, hit(TEST, fired, before=(operation(),), status=0, error="closed")) == [Symptom.NOT_SURVIVED]


def test_a_swallowed_publish_is_a_silent_loss() -> None:
    lost = operation(PUBLISH.endpoint, fault=PUBLISH.fault, payload="a")
    samples = hit(
        PUBLISH, operation(verb="INSERT"), lost, before=(operation(verb="INSERT"), operation(PUBLISH.endpoint))
    )

    assert symptoms(PUBLISH, samples) == [Symptom.SILENT_LOSS]
    assert judge_drill(PUBLISH, samples).findings[0].level == PUBLISH.endpoint


@pytest.mark.parametrize(
    "made_up",
    [
        pytest.param(operation(PUBLISH.endpoint, occurrence=2, at=1, payload="a"), id="repeated"),
        pytest.param(operation(occurrence=2, at=1, verb="INSERT", rows="1"), id="into an outbox"),
        pytest.param(operation("mq/kafka/send", at=1), id="to another broker"),
    ],
)
def test_a_publish_that_is_made_up_for_is_no_loss(made_up: ObservedOperation) -> None:
    before = (operation(verb="INSERT", rows="1"), operation(PUBLISH.endpoint))
    lost = operation(PUBLISH.endpoint, fault=PUBLISH.fault, payload="a")

    assert symptoms(PUBLISH, hit(PUBLISH, before[0], lost, made_up, before=before)) == []


def test_an_error_is_no_silent_loss() -> None:
    lost = operation(PUBLISH.endpoint, fault=PUBLISH.fault)

    assert symptoms(PUBLISH, hit(PUBLISH, lost, before=(operation(PUBLISH.endpoint),), status=503)) == []


def test_a_read_that_fails_behind_a_good_answer_is_no_loss() -> None:
    assert symptoms(TEST, hit(TEST, operation(fault=TEST.fault), before=(operation(verb="SELECT"),))) == []


def test_an_insert_that_is_repeated_after_a_lost_answer_is_a_duplicate() -> None:
    lost = operation(fault="lost-answer", payload="a", verb="INSERT")
    again = operation(occurrence=2, at=1, payload="a", verb="INSERT", rows="1")
    usual = operation(verb="INSERT", rows="1")

    assert symptoms(INSERT, hit(INSERT, lost, again, before=(usual,))) == [Symptom.DUPLICATE]


@pytest.mark.parametrize(
    ("again", "statement"),
    [
        pytest.param(
            operation(occurrence=2, at=1, verb="INSERT", rows="0"), "INSERT INTO a VALUES (%s)", id="the key is known"
        ),
        pytest.param(
            operation(occurrence=2, at=1, verb="INSERT", rows="1"),
            "INSERT INTO prices VALUES (%s, %s) ON CONFLICT (sku) DO UPDATE SET cents = EXCLUDED.cents",
            id="the same again",
        ),
        pytest.param(
            operation(occurrence=2, at=1, verb="SELECT", rows="1"), "INSERT INTO a VALUES (%s)", id="it asks first"
        ),
    ],
)
def test_a_repetition_that_changes_nothing_more_is_no_duplicate(again: ObservedOperation, statement: str) -> None:
    test = replace(INSERT, repeatable=is_repeatable(statement))
    lost = operation(fault="lost-answer", verb="INSERT")

    assert symptoms(test, hit(test, lost, again, before=(operation(verb="INSERT", rows="1"),))) == []


def test_an_insert_of_a_transaction_that_was_not_committed_does_not_count() -> None:
    test = replace(TEST, fault="deadlock", point=point_of("shop", TEST.endpoint, 2))
    insert, commit = operation(verb="INSERT", rows="1"), operation("db/psycopg/commit", at=2)
    repeated = (
        insert,
        operation(occurrence=2, at=1, fault="deadlock", verb="UPDATE"),
        operation(occurrence=3, at=2, verb="INSERT", rows="1"),
        operation(occurrence=4, at=3, verb="UPDATE", rows="1"),
        operation("db/psycopg/commit", at=4),
    )
    before = (insert, operation(occurrence=2, at=1, verb="UPDATE", rows="1"), commit)

    assert symptoms(test, hit(test, *repeated, before=before)) == []


def test_a_transaction_whose_commit_was_lost_and_that_is_repeated_is_a_duplicate() -> None:
    test = replace(TEST, point=point_of("shop", "db/psycopg/commit"), fault="lost-answer")
    insert, commit = operation(verb="INSERT", rows="1"), operation("db/psycopg/commit", at=1)
    repeated = (
        insert,
        operation("db/psycopg/commit", at=1, fault="lost-answer"),
        operation(occurrence=2, at=2, verb="INSERT", rows="1"),
        operation("db/psycopg/commit", occurrence=2, at=3),
    )

    assert symptoms(test, hit(test, *repeated, before=(insert, commit))) == [Symptom.DUPLICATE]


def test_many_calls_because_of_one_failure_are_an_amplification() -> None:
    calls = (operation(fault=TEST.fault), operation(occurrence=40, at=2, fault=TEST.fault))
    three = (operation(fault=TEST.fault), operation(occurrence=3, at=2, fault=TEST.fault))

    assert symptoms(TEST, hit(TEST, *calls, before=(operation(),), status=503)) == [Symptom.AMPLIFICATION]
    assert symptoms(TEST, hit(TEST, *three, before=(operation(),), status=503)) == []


def test_a_made_up_price_behind_a_good_status_is_wrong_data() -> None:
    fired = operation(fault=TEST.fault)
    samples = hit(TEST, fired, before=(operation(),), body=b'{"price": 0, "name": "Mug"}')

    assert symptoms(TEST, samples) == [Symptom.WRONG_DATA]
    assert "price is 0 instead of 12" in judge_drill(TEST, samples).reason


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"price": 12, "name": "Mug"}', id="the same"),
        pytest.param(b'{"price": null, "name": "Mug"}', id="left empty"),
        pytest.param(b'{"name": "Mug"}', id="left out"),
        pytest.param(b'{"price": 11, "name": "Mug", "stale": true}', id="declared"),
    ],
)
def test_an_honest_answer_is_no_wrong_data(body: bytes) -> None:
    judged = judge_drill(TEST, hit(TEST, operation(fault=TEST.fault), before=(operation(),), body=body))

    assert judged.verdict is DrillVerdict.PASSED


def test_what_is_missing_is_noted() -> None:
    judged = judge_drill(TEST, hit(TEST, operation(fault=TEST.fault), before=(operation(),), body=b'{"name": "Mug"}'))

    assert "price is missing or empty" in judged.notes[0]


def test_fields_that_differ_from_request_to_request_anyway_tell_nothing() -> None:
    def numbered(phase: Phase, *operations: ObservedOperation):
        return lambda number: sample(phase, number, *operations, body=b'{"order": "%d"}' % number)

    samples = drill(
        startup=numbered(Phase.STARTUP, operation()),
        fault=numbered(Phase.FAULT, operation(fault=TEST.fault)),
        recovery=numbered(Phase.RECOVERY, operation()),
    )

    assert symptoms(TEST, samples) == []


def test_what_is_seen_once_in_a_hundred_runs_leaves_the_drill_unknown() -> None:
    samples = drill(
        startup=lambda number: sample(Phase.STARTUP, number, operation()),
        fault=lambda number: sample(
            Phase.FAULT, number, operation(fault=TEST.fault), body=b'{"price": 0}' if number == 7 else b'{"price": 12}'
        ),
        recovery=lambda number: sample(Phase.RECOVERY, number, operation()),
    )

    judged = judge_drill(TEST, samples)
    assert judged.verdict is DrillVerdict.UNKNOWN
    assert "wrong-data in 1 of 100" in judged.reason


@pytest.mark.parametrize(
    ("statement", "repeatable"),
    [
        ("INSERT INTO a VALUES (1)", False),
        ("insert into a values (1) on conflict do nothing", True),
        ("UPDATE a SET cents = 5 WHERE id = 1", True),
        ("UPDATE a SET cents = cents - 5 WHERE id = 1", False),
        ("UPDATE a SET name = 'x', cents = a.cents + %s", False),
        ("DELETE FROM a WHERE id = 1", True),
    ],
)
def test_statements_say_whether_they_may_be_repeated(statement: str, repeatable: bool) -> None:
    assert is_repeatable(statement) is repeatable

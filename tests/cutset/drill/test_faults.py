import pytest

from cutset.drill.faults import DEFAULTS, check_faults, faults_at
from cutset.errors import UsageError
from cutset_agent.hooks.library import fault_library


@pytest.mark.parametrize(
    ("endpoint", "faults"),
    [
        ("cache/redis/get", ("connection-refused", "no-answer")),
        ("db/psycopg/commit", ("connection-lost", "serialization-failure", "lost-answer")),
        ("db/psycopg/execute", ("connection-lost", "no-answer", "deadlock", "lost-answer")),
        ("db/psycopg_pool/getconn", ("pool-exhausted",)),
        ("mq/nats/publish", ("broker-unavailable", "connection-lost")),
        ("rpc/requests/GET /quotes/*", ("connection-refused", "no-answer", "status-503")),
        ("cache/memcache/get", ()),
    ],
)
def test_a_few_faults_stand_for_most_at_each_kind_of_component(endpoint: str, faults: tuple[str, ...]) -> None:
    assert faults_at(endpoint, writes=True) == faults


def test_the_answer_to_a_read_may_be_lost_only_if_somebody_asks_for_it() -> None:
    assert "lost-answer" not in faults_at("db/psycopg/execute", writes=False)
    assert faults_at("db/psycopg/execute", writes=False, chosen=["lost-answer"]) == ("lost-answer",)


def test_a_statement_s_fault_is_none_of_the_pool() -> None:
    assert faults_at("db/psycopg_pool/getconn", writes=True, chosen=["lost-answer", "no-answer"]) == ("no-answer",)


def test_every_default_is_a_fault_of_some_library() -> None:
    assert {fault for _, faults in DEFAULTS for fault in faults} <= set(fault_library())


def test_a_fault_that_no_library_of_the_recording_has_is_refused() -> None:
    check_faults(["cache-miss"], ["cache/redis/get", "db/psycopg/execute"])
    with pytest.raises(UsageError, match="No point of the recording has the fault `cache-miss`"):
        check_faults(["cache-miss"], ["cache/redis/set", "db/psycopg/execute"])

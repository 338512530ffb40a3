import signal

import pytest


@pytest.mark.parametrize("name", ["stale-pool", "hung-worker"], ids=["asyncio", "workers"])
def test_a_service_says_when_it_is_ready_and_goes_when_it_is_told(start_alone, name):
    process, client = start_alone(name, "correct")
    assert client.get("/health").status_code == 200

    process.send_signal(signal.SIGTERM)

    assert process.wait(20) in (0, -signal.SIGTERM)


def test_what_a_service_does_not_deal_with_is_a_clean_failure(start, proxy):
    before = proxy("postgres")
    client = start("doubled-write", "correct", postgres=before.address)
    before.cut()

    answer = client.get("/accounts/any")

    assert answer.status_code == 503
    assert answer.json()["error"]

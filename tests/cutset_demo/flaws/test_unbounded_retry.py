import httpx
import pytest


def test_without_a_limit_a_request_asks_as_long_as_the_database_is_away(start, proxy):
    database = proxy("postgres")
    client = start("unbounded-retry", "broken", postgres=database.address)
    database.cut()
    with pytest.raises(httpx.ReadTimeout):
        client.get("/stock/4711", timeout=2)


def test_with_a_limit_a_request_fails_cleanly_and_later_ones_succeed(start, proxy, eventually):
    database = proxy("postgres")
    client = start("unbounded-retry", "correct", postgres=database.address)
    database.cut()
    assert client.get("/stock/4711").status_code == 503
    database.heal()
    eventually(lambda: client.get("/stock/4711").status_code == 200)

import pytest

from cutset_demo.flaws.wrong_fallback import DEFAULT_CENTS


@pytest.mark.parametrize(("variant", "cents"), [("broken", DEFAULT_CENTS), ("correct", 1299)])
def test_a_price_that_was_known_a_moment_ago(variant, cents, start, proxy):
    prices = proxy("dependency")
    client = start("wrong-fallback", variant, dependency=prices.address)
    assert client.get("/prices/4711").json()["cents"] == 1299
    prices.cut()
    response = client.get("/prices/4711")
    assert response.status_code == 200
    assert response.json()["cents"] == cents


@pytest.mark.parametrize(("variant", "status"), [("broken", 200), ("correct", 503)])
def test_a_price_that_was_never_known(variant, status, start, proxy):
    prices = proxy("dependency")
    client = start("wrong-fallback", variant, dependency=prices.address)
    prices.cut()
    assert client.get("/prices/4711").status_code == status

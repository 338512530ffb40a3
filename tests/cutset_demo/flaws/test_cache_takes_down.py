import pytest


@pytest.mark.parametrize(("variant", "status"), [("broken", 503), ("correct", 200)])
def test_a_product_while_the_cache_is_away(variant, status, start, proxy, eventually):
    cache = proxy("redis")
    client = start("cache-takes-down", variant, redis=cache.address)
    eventually(lambda: client.get("/products/4711").status_code == 200)
    answer = client.get("/products/4711").json()
    cache.cut()
    response = client.get("/products/4711")
    assert response.status_code == status
    if status == 200:
        assert response.json() == answer
    cache.heal()
    eventually(lambda: client.get("/products/4711").json() == answer)

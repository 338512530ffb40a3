import httpx
import pytest

from cutset_demo.flaws.dependency import start_dependency


@pytest.fixture(scope="module")
def client():
    with httpx.Client(base_url=start_dependency(), trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "status", "answer"),
    [
        ("/postcodes/10115", 200, {"postcode": "10115", "town": "Berlin"}),
        ("/prices/4711", 200, {"product": "4711", "cents": 1299, "currency": "EUR"}),
        ("/prices/0", 404, {"error": "no /prices/0"}),
        ("/", 404, {"error": "no /"}),
    ],
)
def test_it_knows_towns_and_prices(client, path, status, answer):
    got = client.get(path)

    assert (got.status_code, got.json()) == (status, answer)


def test_it_approves_every_charge_under_its_own_number(client):
    got = client.post("/charges", json={"charge_id": "c-1", "cents": 5})

    assert (got.status_code, got.json()) == (201, {"charge_id": "c-1", "approved": True})

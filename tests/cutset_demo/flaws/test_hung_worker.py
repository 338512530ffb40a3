import threading

import httpx
import pytest

from cutset_demo.flaws.serving import WORKERS

PARCEL = {"parcel_id": "p-1", "postcode": "10115"}


def send_while_silent(client, proxy):
    """One request for each worker while the other service does not answer: their status, 0 if they got no answer."""
    proxy.be_silent()
    statuses = []

    def send():
        try:
            statuses.append(client.post("/parcels", json=PARCEL, timeout=1).status_code)
        except httpx.ReadTimeout:
            statuses.append(0)

    threads = [threading.Thread(target=send) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proxy.heal()
    return statuses


def test_without_a_time_limit_all_workers_hang_for_good(start_alone, proxy):
    towns = proxy("dependency")
    _, client = start_alone("hung-worker", "broken", dependency=towns.address)
    assert send_while_silent(client, towns) == [0] * WORKERS
    with pytest.raises(httpx.ReadTimeout):
        client.get("/health", timeout=1)


def test_with_a_time_limit_requests_fail_and_workers_go_on(start_alone, proxy):
    towns = proxy("dependency")
    _, client = start_alone("hung-worker", "correct", dependency=towns.address)
    assert send_while_silent(client, towns) == [503] * WORKERS
    assert client.get("/health").status_code == 200
    assert client.post("/parcels", json=PARCEL).json() == {"parcel_id": "p-1", "town": "Berlin"}

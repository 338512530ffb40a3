import time

from cutset_demo.flaws.stuck_circuit import FAILURES_TO_OPEN, OPEN_SECONDS

CHARGE = {"charge_id": "c-1", "cents": 4200}


def open_circuit(client, bank):
    assert client.post("/charges", json=CHARGE).status_code == 201
    bank.cut()
    for _ in range(FAILURES_TO_OPEN):
        assert client.post("/charges", json=CHARGE).status_code == 503
    bank.heal()
    refusal = client.post("/charges", json=CHARGE)
    assert refusal.status_code == 503
    assert "CircuitOpen" in refusal.text


def test_a_circuit_that_lets_nothing_through_never_closes(start, proxy):
    bank = proxy("dependency")
    client = start("stuck-circuit", "broken", dependency=bank.address)
    open_circuit(client, bank)
    time.sleep(3 * OPEN_SECONDS)
    assert [client.post("/charges", json=CHARGE).status_code for _ in range(20)] == [503] * 20


def test_a_circuit_that_lets_one_call_try_closes(start, proxy, eventually):
    bank = proxy("dependency")
    client = start("stuck-circuit", "correct", dependency=bank.address)
    open_circuit(client, bank)
    eventually(lambda: client.post("/charges", json=CHARGE).status_code == 201)
    assert [client.post("/charges", json=CHARGE).status_code for _ in range(20)] == [201] * 20

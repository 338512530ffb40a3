import uuid

import pytest


@pytest.mark.parametrize(("variant", "cents"), [("broken", 5000), ("correct", 2500)])
def test_the_balance_after_a_payment_whose_first_answer_was_lost(variant, cents, start, proxy):
    database = proxy("postgres")
    client = start("doubled-write", variant, postgres=database.address)
    account = str(uuid.uuid4())
    database.lose_an_answer()
    response = client.post("/payments", json={"payment_id": str(uuid.uuid4()), "account": account, "cents": 2500})
    assert response.status_code == 201
    assert client.get(f"/accounts/{account}").json()["cents"] == cents

import uuid

import pytest

from cutset_demo.flaws.open_transaction import CONNECTIONS


def transfer(client, cents):
    order = {"transfer_id": str(uuid.uuid4()), "from": "alice", "to": "bob", "cents": cents}
    return client.post("/transfers", json=order).status_code


@pytest.mark.parametrize(("variant", "status"), [("broken", 503), ("correct", 201)])
def test_transfers_after_each_connection_had_one_that_the_database_refused(variant, status, start):
    client = start("open-transaction", variant)
    assert transfer(client, 700) == 201
    assert [transfer(client, 0) for _ in range(CONNECTIONS)] == [422] * CONNECTIONS
    assert [transfer(client, 700) for _ in range(3 * CONNECTIONS)] == [status] * 3 * CONNECTIONS

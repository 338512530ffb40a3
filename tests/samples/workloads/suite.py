"""A suite of pytest as the workload; its name keeps it out of our own tests."""

import outbox


def test_an_order_is_kept() -> None:
    assert outbox.keep(1) == 1


def test_many_orders_are_kept() -> None:
    assert sum(map(outbox.keep, range(2, 8))) == 6

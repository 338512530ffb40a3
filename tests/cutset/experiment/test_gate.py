import shutil
from pathlib import Path

import pytest
from tests.samples.gates import gate_of

from cutset.errors import HaltedError
from cutset.guards.halting import HaltOrder, give_order, lift_order
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import Answers
from cutset.model.impact import Group
from cutset.model.request import Response
from cutset.store.audit import AuditEntry, audit_entries

LINE = AuditEntry(1.5, "run-1", "campaign", "local", "anna@laptop", "cart/Get:abort(503)", "a" * 32)


def test_what_is_permitted_was_written_down_first(tmp_path: Path) -> None:
    gate = gate_of(tmp_path)

    gate.permit("cart/Get:abort(503)", "a" * 32)

    assert list(audit_entries(tmp_path)) == [LINE]
    assert gate.signs.marked == 1


def test_the_group_of_a_mark_is_written_down_too(tmp_path: Path) -> None:
    gate_of(tmp_path).permit("cart/Get:abort(503)", "a" * 32, Group.CONTROL)

    assert [entry.group for entry in audit_entries(tmp_path)] == ["control"]


def test_after_an_order_to_halt_nothing_is_permitted_and_nothing_is_written_down(tmp_path: Path) -> None:
    gate = gate_of(tmp_path)
    give_order(tmp_path, HaltOrder("bert@desk"))

    with pytest.raises(HaltedError, match="bert@desk"):
        gate.permit("cart/Get:abort(503)", "a" * 32)
    lift_order(tmp_path)
    with pytest.raises(HaltedError, match="bert@desk"):
        gate.permit("cart/Get:abort(503)", "a" * 32)

    assert list(audit_entries(tmp_path)) == []
    gate_of(tmp_path).permit("cart/Get:abort(503)", "a" * 32)


def test_what_cannot_be_written_down_does_not_happen_nor_does_anything_after_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    gate = gate_of(store)
    gate.permit("cart/Get:abort(503)", "a" * 32)
    shutil.rmtree(store)

    with pytest.raises(
        HaltedError, match=r"The guard `audit` ended injection: The audit log at .* cannot be written to"
    ):
        gate.permit("cart/Get:abort(503)", "a" * 32)
    store.mkdir()
    with pytest.raises(HaltedError, match="`audit`"):
        gate.permit("cart/Get:abort(503)", "a" * 32)
    assert gate.signs.marked == 1


def test_a_budget_is_not_exceeded_by_one(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, GuardSettings(max_marked=3))
    for _ in range(3):
        gate.permit("cart/Get:abort(503)", "a" * 32)

    with pytest.raises(HaltedError, match="3 requests were marked, and `max_marked` is 3"):
        gate.permit("cart/Get:abort(503)", "a" * 32)
    assert len(list(audit_entries(tmp_path))) == 3


def test_guards_hear_of_answers_with_and_without_a_fault(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, GuardSettings(latency=1.0))
    for response in (
        Response(200, seconds=0.1),
        Response(200, seconds=1.1),
        Response(500),
        Response(error="lost"),
        Response(404),
        Response(error="nobody there", sent=False),
    ):
        gate.answered(response, with_fault=False)
        gate.answered(response, with_fault=True)

    assert gate.signs.lately() == Answers(5, 2, 1)
    assert gate.signs.failed == 3


def test_spans_end_the_silence(tmp_path: Path) -> None:
    gate = gate_of(tmp_path)
    gate.permit("cart/Get:abort(503)", "a" * 32)
    gate.spans_arrived([])
    assert gate.signs.waiting_since is None

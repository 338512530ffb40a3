import json
import os
import stat
from pathlib import Path

import pytest

from cutset.errors import TargetError
from cutset.guards.halting import NAME, HaltOrder, give_order, given_order, lift_order

ORDER = HaltOrder("anna@laptop", 1_763_000_000.0, "checkout is slow")


def test_an_order_is_a_file_of_its_owner_that_says_who_when_and_why(tmp_path: Path) -> None:
    assert give_order(tmp_path / "store", ORDER) == ORDER

    file = tmp_path / "store" / NAME
    assert json.loads(file.read_bytes()) == {"by": ORDER.by, "at": ORDER.at, "reason": ORDER.reason}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]
    assert given_order(tmp_path / "store") == ORDER


def test_to_halt_twice_is_to_halt_once_by_whom_it_was_first(tmp_path: Path) -> None:
    give_order(tmp_path, ORDER)

    assert give_order(tmp_path, HaltOrder("bert@desk", 1_763_000_001.0, "me too")) == ORDER
    assert given_order(tmp_path) == ORDER


def test_what_is_lifted_was_and_is_no_more(tmp_path: Path) -> None:
    give_order(tmp_path, ORDER)

    assert lift_order(tmp_path) == ORDER
    assert given_order(tmp_path) is None
    assert lift_order(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"by": "x"}', b"\xff"])
def test_an_order_counts_whatever_it_says(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)

    order = given_order(tmp_path)

    assert order is not None
    assert order.by == "somebody"
    assert order.at == (tmp_path / NAME).stat().st_mtime


def test_where_links_are_not_known_the_file_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)

    give_order(tmp_path, ORDER)
    assert given_order(tmp_path) == ORDER
    assert give_order(tmp_path, HaltOrder("bert@desk")) == ORDER


def test_on_a_full_disk_an_empty_file_is_order_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(Path, "write_bytes", full)

    give_order(tmp_path, ORDER)

    assert (tmp_path / NAME).exists()
    assert given_order(tmp_path) is not None


def test_where_it_cannot_be_put_down_that_is_said_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")

    with pytest.raises(TargetError, match="cannot be put down") as refused:
        give_order(tmp_path / "store", ORDER)
    assert "Ctrl-C" in refused.value.hint

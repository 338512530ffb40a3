import msgspec
import pytest

from cutset.reproduce.jvm.table_rows import JvmMethod, TryRange


def test_a_method_may_have_nothing_but_its_name():
    method = msgspec.json.decode(b'{"c": 1, "n": 2, "d": 3, "f": 1025, "new": 0}', type=JvmMethod)
    assert (method.owner, method.name, method.descriptor, method.blocks) == (1, 2, 3, ())


def test_rows_are_lists_and_may_grow():
    assert msgspec.json.decode(b"[0, 4, 2, -1, 9]", type=TryRange) == TryRange(0, 4, 2, -1)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b"[0, 4, 2]", type=TryRange)

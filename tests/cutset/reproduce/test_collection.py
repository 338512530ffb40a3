import gc

import pytest

from cutset.reproduce.collection import collection_paused


def test_collection_goes_on_afterwards_whatever_happened():
    @collection_paused()
    def fail() -> None:
        raise ValueError(str(gc.isenabled()))

    with pytest.raises(ValueError, match="False"):
        fail()
    assert gc.isenabled()


def test_who_has_switched_it_off_keeps_it_off():
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()

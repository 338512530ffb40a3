"""What does not need services; `docs/how-to/python.md` uses it on real ones."""

from pathlib import Path

import pytest

from cutset.app.api.impact import measure_impact
from cutset.errors import HaltedError, UsageError
from cutset.guards.halting import HaltOrder, give_order

KEY = b"a key for tests, of 32 bytes or more"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "cutset.yaml"
    file.write_text("target: {url: http://127.0.0.1:1}\nrequests: [{path: /}]\n")
    return file


def test_settings_are_those_of_the_section_by_name(config: Path) -> None:
    with pytest.raises(UsageError, match="a share of 60 % and a control"):
        measure_impact("cart", config=config, load=5, share=60.0, key=KEY, store=config.parent / "store")
    with pytest.raises(UsageError, match="There is no request `GET /none`"):
        measure_impact("cart", config=config, load=5, requests=["GET /none"], key=KEY)


def test_a_halt_before_anything_is_an_error(config: Path) -> None:
    give_order(config.parent / "store", HaltOrder("ada@till", 1_800_000_000.0, "lunch"))
    with pytest.raises(HaltedError, match="lunch"):
        measure_impact("cart", config=config, load=5, key=KEY, store=config.parent / "store")

from pathlib import Path
from random import Random

from benchmarks.truth.bit_flips import flip_bits, random_places
from tests.samples.campaign import EVENTS, RUN

from cutset.store.ledger import open_ledger


def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    store, scratch = tmp_path / "store", tmp_path / "scratch"
    scratch.mkdir()
    with open_ledger(store) as ledger:
        for run in ("one", "two"):
            for event in (RUN, *EVENTS):
                ledger.append(run, event)
    found = flip_bits(store, scratch, [*range(0, 800, 8), *random_places(store, 200, Random(5))])
    assert found["accepted"] == 0
    assert found["refused"] > 50
    assert found["unchanged"] > 20

"""Is what was recorded what is read, and nothing in it that must not be? Bits of a real ledger are flipped; secrets are
planted wherever a user has some, and looked for in all that commands leave and say.

    python -m benchmarks.truth.records [--quick]
"""

import sys
import tempfile
from pathlib import Path
from random import Random

from benchmarks.truth.bit_flips import flip_bits, random_places
from benchmarks.truth.canaries import search_canaries
from benchmarks.truth.topic import run_alone

FLIPS, QUICK_FLIPS = 20_000, 1_000


def measure(*, quick: bool) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="cutset-records-") as name:
        folder = Path(name)
        searched = search_canaries(folder / "inn")
        for each in searched.found:
            print(f"FOUND {each}", file=sys.stderr)
        for each in searched.open_to_others:
            print(f"OPEN TO OTHERS {each}", file=sys.stderr)
        store, scratch = folder / "inn" / "store", folder / "scratch"  # with the campaigns and the hardening in it
        scratch.mkdir()
        places = random_places(store, QUICK_FLIPS if quick else FLIPS, Random(20_000))
        flips = flip_bits(store, scratch, places)
        print(f"flips: {dict(flips)}", file=sys.stderr)
    return {
        "bit_flips": flips.total(),
        "flips_accepted": flips["accepted"],
        "canaries": searched.checks,
        "canaries_found": len(searched.found) + len(searched.open_to_others),
    }


if __name__ == "__main__":
    run_alone(measure, __doc__)

"""One bit of a ledger is flipped: what is read is as it was, or it is refused. Anything else would be believed."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

from cutset.errors import CutsetError
from cutset.store.codec import RecordedEvent
from cutset.store.ledger import NAME, open_existing_ledger

Content = list[tuple[str, list[tuple[float, RecordedEvent]]]]  # each run with its dated events


def content_of(store: Path) -> Content:
    with open_existing_ledger(store) as ledger:
        return [(run.id, ledger.dated_events(run.id)) for run in ledger.runs()]


def flip_bits(store: Path, scratch: Path, places: Iterable[int]) -> Counter[str]:
    """How often a flip at one of these places, counted in bits, left the content alone, was refused, or accepted."""
    original, known = (store / NAME).read_bytes(), content_of(store)
    found: Counter[str] = Counter()
    for place in places:
        flipped = bytearray(original)
        flipped[place // 8] ^= 1 << place % 8
        for left in scratch.glob(f"{NAME}*"):
            left.unlink()
        (scratch / NAME).write_bytes(flipped)
        try:
            found["unchanged" if content_of(scratch) == known else "accepted"] += 1
        except CutsetError:
            found["refused"] += 1
    return found


def random_places(store: Path, number: int, random: Random) -> list[int]:
    """Anywhere in the file."""
    bits = 8 * (store / NAME).stat().st_size
    return [random.randrange(bits) for _ in range(number)]

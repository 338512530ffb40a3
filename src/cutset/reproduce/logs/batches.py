"""Messages that name what was done together: `removed Set(orders-0, orders-1)`.

What is done together, and in which order, may be another in each run: good runs show only some of it. Where such
messages come and go between good runs, so do others that read alike and name some of the same.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import cache

_LIST = re.compile(r"[(\[{<]([^()\[\]{}<>]*)[)\]}>]")


def comes_and_goes(noise: Collection[str]) -> Callable[[str], bool]:
    """By its key: whether a message is one that comes and goes between good runs (`noise`), or another batch of it."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for key in noise:
        for around, names in _batches(key):
            named[around] |= names

    @cache  # logs say the same over and over
    def does(key: str) -> bool:
        return key in noise or any(names and names <= named.get(around, set()) for around, names in _batches(key))

    return does


def _batches(key: str) -> Iterator[tuple[str, set[str]]]:
    """Of each list: what is around it, other lists and all, and what it names."""
    for found in _LIST.finditer(key):
        names = {name.strip() for name in found[1].split(",")} - {""}
        yield f"{key[: found.start(1)]}{key[found.end(1) :]}", names

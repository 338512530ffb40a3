"""Messages that name what was done together: `removed Set(orders-0, orders-1)`.

What is done together, and in which order, may be another in each run: good runs show only some of it. Where such
messages come and go between good runs, so do others that read alike and name some of the same.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cache

_LIST = re.compile(r"[(\[{<]([^()\[\]{}<>]*)[)\]}>]")


def comes_and_goes(noise: Collection[str]) -> Callable[[str], bool]:
    """By its key: whether a message is one that comes and goes between good runs (`noise`), or another batch of it."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for key in noise:
        named[_LIST.sub("", key)] |= _names(key)

    @cache  # logs say the same over and over
    def does(key: str) -> bool:
        names = _names(key)
        return key in noise or bool(names and names <= named.get(_LIST.sub("", key), set()))

    return does


def _names(key: str) -> set[str]:
    return {name.strip() for names in _LIST.findall(key) for name in names.split(",")} - {""}

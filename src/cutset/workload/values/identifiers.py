"""Identifiers: which shape a value has, and another value of the same shape. Pure, but for the randomness it is given.

Two kinds matter for what may be concluded from a shape. Random ones (UUIDs, hashes, tokens) are made by machines so
that they are never the same twice. Counted ones (`1234`, `ord-1234`) may also be quantities, prices and model names.
"""

import re
import string
from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random

from cutset_agent.wire import normalise_api

MAX_CHARACTERS = 256  # of an identifier; longer values are documents
FEW_DIGITS = 6  # with fewer a new number is likely to be somebody's already: `ann17` becomes longer
MANY_DIGITS = 8
REMEMBERED = 10_000  # values that are not given again; fewer than six digits can tell apart
MASKED = "masked-"  # how the value begins that stands for a secret

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NUMBER = re.compile(r"[0-9]+")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])(?:[0-9a-f]{12,}|[0-9A-F]{12,})")
_TOKEN = re.compile(r"[\w.+/=~-]{12,}", re.ASCII)
_RUN = re.compile(r"[0-9A-Za-z]+")
_COUNTED = re.compile(r"(?P<before>[\w.+-]*?)(?P<digits>\d+)(?P<after>[A-Za-z]*(?:@[\w.-]+)?)", re.ASCII)
# In a path also `ord_1234`; a single digit after a word is rather a version.
_SEGMENT = re.compile(rf"{MASKED}\w+|[A-Za-z]+[-_]\w*\d\d\w*", re.ASCII)
_LETTERS = "abcdefghjkmnpqrstvwxyz"  # without those that ULIDs leave out
_HEX_LETTERS = "abcdef"

RANDOM_SHAPES = frozenset({"uuid", "hex", "token"})
COUNTED_SHAPES = frozenset({"number", "counted"})


def shape_of(value: str) -> str:
    """`secret`, `uuid`, `number`, `hex`, `token`, `counted` (`ord-17`, `ann7@example.com`), or `text`."""
    if len(value) > MAX_CHARACTERS:
        return "text"
    return next((shape for shape, fits in _SHAPES.items() if fits(value)), "text")


def _is_token(value: str) -> bool:
    return bool(_TOKEN.fullmatch(value)) and any(map(_looks_random, _RUN.findall(value)))


def _looks_random(run: str) -> bool:
    """Twelve letters and digits in disorder: not `iphone`, `256gb` or `checkout2026`."""
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
    return len(run) >= 12 and changes >= 3


_SHAPES: Mapping[str, Callable[[str], object]] = {
    "secret": lambda value: value.startswith(MASKED),
    "uuid": _UUID.fullmatch,
    "number": _NUMBER.fullmatch,
    "hex": _HEX.fullmatch,
    "token": _is_token,
    "counted": _COUNTED.fullmatch,
}


def fresh_like(random: Random) -> Callable[[str], str]:
    """A function that gives another value of the same shape, each time a new one."""
    given: dict[str, None] = {}

    def fresh(value: str) -> str:
        new = value
        while new == value or new in given:
            new = _drawn(value, random)
        given[new] = None
        if len(given) > REMEMBERED:
            del given[next(iter(given))]
        return new

    return fresh


def _drawn(value: str, random: Random) -> str:
    match shape_of(value):
        case "uuid":
            # The digits that tell version and variant stay.
            places = enumerate(value)
            return "".join(char if place in (14, 19) else _like(char, random, _HEX_LETTERS) for place, char in places)
        case "hex":
            return "".join(_like(char, random, _HEX_LETTERS) for char in value)
        case "secret":
            return MASKED + "".join(_like(char, random, _HEX_LETTERS) for char in value.removeprefix(MASKED))
        case "number" | "counted":
            match = _COUNTED.fullmatch(value)
            assert match is not None
            return match["before"] + _digits_like(match["digits"], random) + match["after"]
        case "token":
            # The first stays: what a ULID begins with must not be larger.
            return value[0] + "".join(_like(char, random) for char in value[1:])
        case _:
            return f"{value}-{random.randrange(10**8):08d}"


def _digits_like(digits: str, random: Random) -> str:
    length = len(digits) if len(digits) >= FEW_DIGITS else MANY_DIGITS
    first = "0" if digits[0] == "0" and len(digits) > 1 else str(random.randrange(1, 10))
    return first + "".join(str(random.randrange(10)) for _ in range(length - 1))


def _like(char: str, random: Random, letters: str = _LETTERS) -> str:
    """A digit for a digit, a letter for a letter: so hexadecimal stays what it was taken for."""
    if char.isdigit():
        return random.choice(string.digits)
    if char.isalpha():
        letter = random.choice(letters)
        return letter.upper() if char.isupper() else letter
    return char


def mask_segments(path: str) -> str:
    """`/orders/*` for `/orders/ord_1234?draft=1`: what sidecars mask, and what else names one thing among many."""
    masked = normalise_api("", path, False).removeprefix(" ")
    return "/".join("*" if _names_one(segment) else segment for segment in masked.split("/"))


def _names_one(segment: str) -> bool:
    return bool(_SEGMENT.fullmatch(segment)) or shape_of(segment) in RANDOM_SHAPES

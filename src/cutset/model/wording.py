"""How counted things, near misses and what others wrote are put into words, alike in every message and report."""

from collections.abc import Iterable
from difflib import get_close_matches


def count(number: int, noun: str) -> str:
    """`1 trace`, `1,200 request classes`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> str:
    """A question with what is close to a word, or nothing. The cutoff is `difflib`'s: 1 is equal."""
    close = get_close_matches(word, sorted(known), n=most, cutoff=cutoff)
    return f"Did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""


def known_names(names: Iterable[str]) -> str:
    return f"Known: {quoted(names)}"


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def sentences(*parts: str) -> str:
    """Parts of a hint, of which some may be empty."""
    return " ".join(filter(None, parts))


def visible(text: str) -> str:
    """Control characters, escape sequences and what reverses the direction of writing become visible; lines stay."""
    return "\n".join(line if line.isprintable() else _without_tricks(line) for line in text.split("\n"))


def _without_tricks(line: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)

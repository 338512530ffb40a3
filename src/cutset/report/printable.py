"""Text that others wrote, as a terminal may show it."""

from rich.markup import escape


def printable(text: str) -> str:
    """Neither our markup nor control characters of its own."""
    shown = (letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return escape("".join(shown))

"""Text that others wrote, as a terminal, a page or a CI system may show it."""

from typing import Any

from rich.markup import escape


def visible(text: str) -> str:
    """Control characters, escape sequences and what reverses the direction of writing become visible; lines stay."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)


def printable(text: str) -> str:
    """On one line, and with neither our markup nor control characters of its own."""
    return escape(visible(text).replace("\n", "\\n"))


def all_visible(document: Any) -> Any:
    """Likewise, of every text in a document of lists and mappings."""
    match document:
        case str():
            return visible(document)
        case dict():
            return {name: all_visible(value) for name, value in document.items()}
        case list():
            return [all_visible(value) for value in document]
    return document

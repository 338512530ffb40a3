"""Text that others wrote, as a terminal, a page or a CI system may show it."""

import re
from typing import Any

from rich.markup import escape

from cutset.model.wording import visible

# Rich takes the backslash from `\[` wherever it is, but escapes it only before what could be markup.
_LOST_BACKSLASH = re.compile(r"\\(?=\[(?![a-z#/@][^\[]*?\]))")


def printable(text: str) -> str:
    """On one line, and with neither our markup nor control characters of its own."""
    return _LOST_BACKSLASH.sub(r"\\\\", escape(visible(text).replace("\n", "\\n")))


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

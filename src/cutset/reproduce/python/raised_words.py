"""The words of a `raise` statement: `Connection lost` in `raise Disconnected("Connection lost")`."""

import ast
import textwrap
from functools import lru_cache
from pathlib import Path

from cutset.model.reproduction.site import Site
from cutset.reproduce.python.source_text import parse, read_text

_SHORTEST = 6  # characters: fewer words are anybody's


def raised_words(site: Site) -> str:
    """Of what it raises, the first argument if that is plain text; "" if it is not, or hardly tells anything."""
    lines = _lines(site.path)[site.line - 1 : site.end_line]
    tree = parse(textwrap.dedent("\n".join(lines)), Path(site.path), [])
    for statement in tree.body if tree else ():
        match statement:
            case ast.Raise(exc=ast.Call(args=[ast.Constant(value=str(words)), *_])) if len(words) >= _SHORTEST:
                return words
    return ""


@lru_cache(maxsize=64)  # sites come file by file
def _lines(path: str) -> list[str]:
    return (read_text(Path(path), []) or "").split("\n")

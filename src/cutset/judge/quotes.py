"""Pieces of answers as they are quoted: one line, without control characters, and no longer than is worth reading."""

import re
import unicodedata

SNIPPET_LENGTH = 120  # characters quoted from an answer, so that a reason stays on one line
TEXT_LENGTH = 1_000  # characters kept of an answer, for whoever compares answers later


def snippet(text: str, keyword: str = "", quotes: str = "'", length: int = SNIPPET_LENGTH) -> str:
    """A piece of one line, around the keyword if there is one."""
    line = one_line(text).replace("`", quotes)
    found = as_words(keyword).search(line) if keyword else None
    start = max(0, found.start() - length // 2) if found else 0
    end = start + length
    return ("…" if start else "") + line[start:end].strip() + ("…" if len(line) > end else "")


def as_words(keyword: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(keyword)}(?!\w)", re.IGNORECASE)


def one_line(text: str) -> str:
    """Without control and format characters: answers are untrusted, and reasons are printed on terminals."""
    line = spaced_once(text)
    return line if line.isprintable() else "".join(c for c in line if unicodedata.category(c)[0] != "C")


def spaced_once(text: str) -> str:
    return " ".join(text.split())

"""Markdown for comments on pull requests: text of others stays text, mentions nobody, and links nowhere."""

import re
from collections.abc import Iterable

from cutset.model.wording import visible

LONGEST = 300  # characters of a text: comments have a limit
MOST_CHARACTERS = 65_536  # of a comment on GitHub
_LEFT_OUT = "*… the rest is left out: there is more than a comment can hold*"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-!|<>~&:.$])")
_CALLING = re.compile("([@#])")
_QUIET = "\\1\u200b"  # with a space of no width behind it, nobody is notified, and no issue is said to be mentioned


def text(said: str) -> str:
    one_line = " ".join(visible(said).split())
    return _CALLING.sub(_QUIET, _SPECIAL.sub(r"\\\1", _bounded(one_line)))


def code(said: str) -> str:
    """Between as many backticks as it takes. A pipe would end the cell of a table."""
    bounded = _bounded(" ".join(visible(said).split())).replace("|", "¦")
    fence = "`" * (max((len(run) for run in re.findall("`+", bounded)), default=0) + 1)
    pad = " " if "`" in bounded or not bounded else ""
    return f"{fence}{pad}{bounded}{pad}{fence}"


def with_code(said: str) -> str:
    """Between backticks is code."""
    parts = _bounded(said).split("`")
    if len(parts) % 2 == 0:  # one of them is part of the text
        return text(said)
    return "".join(_code_or_text(part, is_code=number % 2 == 1) for number, part in enumerate(parts))


def block(lines: Iterable[str], language: str = "") -> str:
    """A block of code, as commands are."""
    content = "\n".join(visible(line) for line in lines)
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", content)), default=0) + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Cells are Markdown already."""
    names = list(heads)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _code_or_text(part: str, *, is_code: bool) -> str:
    """What is text keeps the spaces around it: they part it from the code."""
    if is_code:
        return code(part)
    return f"{' ' * part[:1].isspace()}{text(part)}{' ' * (part[-1:].isspace() and part.strip() != '')}"


def _bounded(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def document(blocks: Iterable[str], most: int = MOST_CHARACTERS) -> str:
    """Blocks, each with an empty line behind it; those that do not fit any more are left out, which it says."""
    kept: list[str] = []
    room = most - len(_LEFT_OUT) - 2
    for block_text in blocks:
        room -= len(block_text) + 2
        if room < 0:
            kept.append(_LEFT_OUT)
            break
        kept.append(block_text)
    return "\n\n".join(kept) + "\n"

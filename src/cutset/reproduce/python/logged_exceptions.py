"""The exceptions that a log shows, in messages and tracebacks, as Python prints them."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

from cutset.model.reproduction.log import LogRecord

ENDS_TRIED = 8  # parentheses in a line of the log that may end an exception's `repr`
_SOUNDS_RAISED = r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Timeout|Expired|Interrupt|Disconnected|timeout|abort)"
_TRACEBACK_END = re.compile(r"^(?:[ ]+\| )?((?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*|error|timeout|abort|error_\w+))(?:: (.*))?$")
_NUMBERED = re.compile(r"\[Errno -?\d+\] [^()\[\]{}:;,\"']+[^()\[\]{}:;,\"'\s]")
_NAMED = re.compile(rf"\b({_SOUNDS_RAISED}): (.+)")
_SHOWN = re.compile(rf"\b{_SOUNDS_RAISED}\(")


def exceptions_in(records: Iterable[LogRecord]) -> list[tuple[str, str]]:
    """The exceptions that a log shows, in order, once each: type and message. Causes come before their effects."""
    found: dict[tuple[str, str], None] = {}
    for record in records:
        for line in record.message.splitlines():
            found |= dict.fromkeys(_in_text(line))
        for line in record.traceback:
            if end := _TRACEBACK_END.match(line):
                found[end[1], end[2] or ""] = None
    return list(found)


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    """Exceptions as `repr` shows them, as `Type: message`, or by the number of the operating system's error."""
    shown = _SHOWN.search(text)
    closed = [at for at in range(len(text), shown.end(), -1) if text[at - 1] == ")"] if shown else []
    for end in closed[:ENDS_TRIED]:
        if tree := _parsed(text[shown.start() : end] if shown else ""):
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
            yield from ((ast.unparse(node.func), _message(node)) for node in reversed(calls))
            return
    if named := _NAMED.search(text):
        yield named[1], named[2]
    elif numbered := _NUMBERED.search(text):  # as `str` shows an error of the operating system
        yield "OSError", numbered[0]


def _parsed(text: str) -> ast.Expression | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escape sequences
        try:
            return ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _message(call: ast.Call) -> str:
    match [argument.value for argument in call.args if isinstance(argument, ast.Constant)]:
        case [int(number), str(text), *_]:
            return f"[Errno {number}] {text}"
        case [str(text), *_]:
            return text
    return ""

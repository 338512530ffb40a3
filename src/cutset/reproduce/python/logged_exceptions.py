"""The exceptions that a log shows, in messages and tracebacks, as Python prints them; also by their text alone."""

import ast
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.python.exception_making import Library
from cutset.reproduce.python.exception_table import table
from cutset.reproduce.python.exception_tree import BUILTIN
from cutset.reproduce.python.library_source import RaisedText

TEXTS_READ = 2000  # messages of a log, those that differ by more than numbers, that are searched for texts of errors
ENDS_TRIED = 8  # parentheses in a line of the log that may end an exception's `repr`
_SOUNDS_RAISED = r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Timeout|Expired|Interrupt|Disconnected|timeout|abort)"
_TRACEBACK_END = re.compile(r"^((?:[A-Za-z_]\w*\.)*(?:_?[A-Z]\w*|error|timeout|abort|error_\w+))(?:: (.*))?$")
_NUMBERED = re.compile(r"\[Errno (-?\d+)\] ([^()\[\]{}:;,\"']+[^()\[\]{}:;,\"'\s])")
_NAMED = re.compile(rf"\b({_SOUNDS_RAISED}): (.+)")
_SHOWN = re.compile(rf"\b{_SOUNDS_RAISED}\(")


_WRAPPED = re.compile(r"\(([A-Za-z_]\w*(?:\.\w+)+)\) (.+)")
_NUMBERS = re.compile(r"\d+")


def exceptions_in(records: Iterable[LogRecord]) -> list[tuple[str, str]]:
    """The exceptions that a log shows, in order, once each: type and message. Causes come before their effects.

    A type that a traceback shows without a module is a builtin one: `builtins.TimeoutError`.
    """
    found: dict[tuple[str, str], None] = {}
    for record in records:
        for line in record.message.splitlines():
            found |= dict.fromkeys(_in_text(line))
        for place, line in enumerate(record.traceback):
            if (end := _TRACEBACK_END.match(line)) and not end[1].endswith("ExceptionGroup"):  # its parts follow
                name = f"builtins.{end[1]}" if end[1] in BUILTIN else end[1]
                message = " ".join([end[2] or "", *_indented(record.traceback[place + 1 :])]).strip()
                if wrapped := _WRAPPED.fullmatch(message):
                    found[wrapped[1], wrapped[2]] = None
                found[name, message] = None
    return list(found)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    """What goes on with a message: gRPC tells the status there."""
    for line in lines:
        if not line.startswith("\t"):
            return
        yield line.strip()


def all_exceptions_in(records: Sequence[LogRecord], library: Library) -> list[tuple[str, str]]:
    """By type, and by text alone.

    Where a type lacks its module, its text may tell: "OperationalError: database is locked" is SQLite's, whoever else
    has a class of this name.
    """
    by_text = exceptions_by_text(records, library)
    classes = {(kind.rpartition(".")[2], text): kind for kind, text in by_text}
    named = [(classes.get((name, text), name), text) for name, text in exceptions_in(records)]
    return list(dict.fromkeys([*named, *by_text]))


def exceptions_by_text(records: Iterable[LogRecord], library: Library) -> list[tuple[str, str]]:
    """Exceptions whose text a log shows without their type: "cannot send: Connection closed by server."

    Whose text it is, the table of the standard library tells, and the `raise` statements of libraries.
    """
    lines = {_NUMBERS.sub("", line): line for record in records for line in record.message.splitlines()}
    shown = list(lines.values())[-TEXTS_READ:]
    everything = "\n".join(shown)
    found: dict[tuple[str, str], None] = {}
    for fault in dict.fromkeys(fault for rule in table().rules for fault in rule.faults):
        if " " in fault.text and fault.text in everything and _said(re.escape(fault.text), everything):
            found[fault.kind, f"[Errno {fault.errno}] {fault.text}" if fault.errno else fault.text] = None
    for package, source in library.sources.items():
        for raised in source.raised_texts():
            if raised.longest in everything and (match := _said(raised.pattern, everything)):
                kind = _raised_class(raised, package, library)
                found |= {(kind, match[1]): None} if kind else {}
    return list(found)


def _said(pattern: str, text: str) -> re.Match[str] | None:
    """At the end of a line, after a colon or nothing; or after a colon, to the end of a sentence: as `str` of an
    exception is logged."""
    at_end = rf"(?:^|: ?|[(\[`'\"])({pattern})[)\]`'\"]?$"
    return re.search(at_end, text, re.MULTILINE) or re.search(rf": ({pattern})(?:(?<=\.)|[.;,]) ", text)


def _raised_class(raised: RaisedText, package: str, library: Library) -> str:
    last = raised.name.rpartition(".")[2]
    own = [kind.dotted for kind in library.packages.get(package, ()) if kind.dotted.endswith(f".{last}")]
    if last in BUILTIN and not library.sources[package].imports(raised.module, last):
        return f"builtins.{last}"
    return min(own, key=len, default="")


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
        yield "OSError", _whole(numbered)


def _whole(numbered: re.Match[str]) -> str:
    """Some programs break long lines in the midst of it."""
    whole = os.strerror(int(numbered[1]))
    return f"[Errno {numbered[1]}] {whole}" if whole.startswith(numbered[2]) else numbered[0]


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

"""How a class of exceptions composes its text of the constructor's arguments, so that a text tells them.

Format strings of all three kinds, in constructors, in `__str__` and in class attributes, become regular expressions
with a group for each argument that they show: `name`, or `name__repr` where it is shown by `repr`.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import count
from string import Formatter

_CONVERSION = re.compile(r"%[srd]")


def text_formats(node: ast.ClassDef) -> Iterator[str]:
    """Regular expressions of the texts that a class composes of its constructor's arguments."""
    for statement in node.body:
        match statement:
            case ast.Assign(value=ast.Constant(value=str(text))):
                yield from _pattern(_braces(text, []))
            case ast.FunctionDef(name="__init__" | "__new__" | "__str__"):
                for inner in ast.walk(statement):
                    yield from _pattern(_pieces(inner))


def _pieces(node: ast.AST) -> list[str | tuple[str, bool]]:
    """Of a composed text: what it says, and the names that it shows, each with whether by `repr`."""
    match node:
        case ast.JoinedStr(values=values):
            return [
                _shown(value.value, by_repr=value.conversion == ord("r"))
                if isinstance(value, ast.FormattedValue)
                else str(value.value)
                for value in values
                if isinstance(value, ast.FormattedValue | ast.Constant)
            ]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=args, keywords=_):
            return _braces(text, args)
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            shown = iter(right.elts if isinstance(right, ast.Tuple) else [right])
            return [
                _shown(next(shown, node), by_repr=part == "%r") if _CONVERSION.fullmatch(part) else part
                for part in re.split(f"({_CONVERSION.pattern})", text)
            ]
    return []


def _braces(text: str, arguments: Sequence[ast.expr]) -> list[str | tuple[str, bool]]:
    found: list[str | tuple[str, bool]] = []
    try:
        parts = list(Formatter().parse(text))
    except ValueError:  # a brace that is meant
        return []
    fields = count()
    for literal, name, _, conversion in parts:
        found.append(literal)
        if name is not None:
            number = next(fields) if not name else int(name) if name.isdigit() else len(arguments)
            shown, _ = _shown(arguments[number], by_repr=False) if number < len(arguments) else (name, False)
            found.append((shown if shown.isidentifier() else "", conversion == "r"))
    return found


def _shown(node: ast.AST, *, by_repr: bool) -> tuple[str, bool]:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name.lstrip("_"), by_repr
        case ast.Call(func=ast.Name(id="str" | "repr" as function), args=[inner]):
            return _shown(inner, by_repr=function == "repr")
    return "", by_repr


def _pattern(pieces: Sequence[str | tuple[str, bool]]) -> Iterator[str]:
    """None if it shows no parameter, or says nothing by which it can be told."""
    pattern, groups, told = "", set(), ""
    for piece in pieces:
        if isinstance(piece, str):
            pattern += re.escape(piece)
            told += piece.strip()
            continue
        name, by_repr = piece
        group = f"{name}__repr" if by_repr else name
        if group in groups:
            pattern += f"(?P={group})"
        else:
            pattern += f"(?P<{group}>.*?)" if name else ".*?"
            groups |= {group} if name else set()
    if groups and told:
        yield pattern

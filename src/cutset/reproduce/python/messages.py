"""Texts in source code: what is known of a string before the program runs."""

import ast
import re
import string

from cutset.reproduce.logs.statements import Parts, joined

_PERCENT = re.compile(r"%(?:\(\w*\))?[#0\- +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[hlL]?([diouxXeEfFgGcrsa%])")
_TRANSLATORS = {"_", "gettext", "lazy_gettext", "ugettext", "dedent"}  # hand their text through, more or less


def text_parts(node: ast.expr) -> Parts:  # noqa: PLR0911 - one return per form
    """Of `'a %s' % x`, `f'a {x}'`, `'a {}'.format(x)` and `'a ' + x` alike: ("a ", None). Empty if it is no text."""
    match node:
        case ast.Constant(value=str() as text):
            return (text,)
        case ast.JoinedStr(values=values):
            return joined([part for value in values for part in _piece(value)])
        case ast.BinOp(left=left, op=ast.Mod()):
            return percent_parts(text_parts(left))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            before, after = text_parts(left), text_parts(right)
            return joined([*(before or (None,)), *(after or (None,))]) if before or after else ()
        case ast.Call(func=ast.Attribute(value=receiver, attr="format")):
            return brace_parts(text_parts(receiver))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[text]) if name in _TRANSLATORS:
            return text_parts(text)
        case ast.IfExp(body=body, orelse=orelse) if text_parts(body) and text_parts(orelse):
            return (None,)
    return ()


def _piece(value: ast.expr) -> Parts:
    return (str(value.value),) if isinstance(value, ast.Constant) else (None,)


def percent_parts(parts: Parts) -> Parts:
    """The parts after `%`-formatting: every conversion is unknown."""
    out: list[str | None] = []
    for part in parts:
        if part is None:
            out.append(None)
            continue
        end = 0
        for conversion in _PERCENT.finditer(part):
            out.append(part[end : conversion.start()])
            out.append("%" if conversion[1] == "%" else None)
            end = conversion.end()
        out.append(part[end:])
    return joined(out)


def brace_parts(parts: Parts) -> Parts:
    """The parts after `str.format`: every replacement field is unknown."""
    out: list[str | None] = []
    for part in parts:
        if part is None:
            out.append(None)
            continue
        try:
            for literal, name, _, _ in string.Formatter().parse(part):
                out.append(literal)
                if name is not None:
                    out.append(None)
        except ValueError:  # an unbalanced brace: this is no format after all
            out.append(part)
    return joined(out)

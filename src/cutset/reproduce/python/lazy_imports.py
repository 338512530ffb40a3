"""Imports that are no statements: by a text, by a function, by a module that finds its names when it is asked."""

import ast
import re
from collections.abc import Iterator

# `import_module("x")`, `__import__("x")`, `LazyModule("x")`, `lazy_load("x")`
_IMPORTING = re.compile(r"(?i)_*import_module|__import__|_*lazy_?(import|module|load)\w*|_*(import|load)_?lazy\w*")
_MODULE = re.compile(r"\.*[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def imports_in(argument: ast.expr) -> list[ast.stmt]:
    """Of a text that is nothing but import statements: `lazy_import(globals(), "from a import b")`."""
    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str) and "import " in argument.value):
        return []
    try:
        body = ast.parse(argument.value).body
    except SyntaxError:
        return []
    return body if all(isinstance(each, ast.Import | ast.ImportFrom) for each in body) else []


def imported_by(value: ast.expr | None) -> str:
    """The module that a call gives back, as far as its name and its last text tell; "" if it is none."""
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if _IMPORTING.fullmatch(name):
            texts = [each.value for each in args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            return texts[-1] if texts and _MODULE.fullmatch(texts[-1]) else ""
    return ""


def lazy_names(tables: ast.expr) -> Iterator[tuple[str, str]]:
    """What a dictionary may be for: `{"name": "module"}`, `{"name": ("module", "its name")}`, `{"module": [names]}`."""
    for node in ast.walk(tables):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                continue
            texts = [each for each in _texts(value) if _MODULE.fullmatch(each)]
            for text in texts:
                yield key.value, f"{text}.{key.value}"
                yield key.value, text
                yield text, f"{key.value}.{text}"
            if len(texts) == 2:
                yield key.value, ".".join(texts)


def _texts(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str() as text):
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            yield from (item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))


def absolute_name(name: str, package: str) -> str:
    """Of a module that is named from inside a package."""
    plain = name.lstrip(".")
    if plain == name:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - (len(name) - len(plain)) + 1], plain])

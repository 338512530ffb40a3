"""One meaning per public type name: none is defined by two modules of the product, its agent and its demo."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from checks.sources import product_files

# Calls that make a type of the name they are assigned to; a TypeVar is a name of one signature only, and may repeat.
TYPE_MAKERS = {"NewType", "namedtuple", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum"}


def doubled_type_names(root: Path) -> dict[str, str]:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in product_files(root):
        for name in sorted(set(public_types(ast.parse(path.read_text())))):
            homes[name].append(str(path.relative_to(root)))
    return {
        name: f"public type {name} is defined by {len(paths)} modules: {', '.join(paths)}"
        for name, paths in homes.items()
        if len(paths) > 1
    }


def public_types(tree: ast.Module) -> Iterator[str]:
    """Names of the classes and type aliases that a module defines, also below an `if` or a `try`."""
    for statement in _module_level(tree.body):
        if (name := _defined_type(statement)) and not name.startswith("_"):
            yield name


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        match statement:
            case ast.If(body=body, orelse=orelse):
                yield from _module_level(body + orelse)
            case ast.Try(body=body, handlers=handlers, orelse=orelse):
                yield from _module_level(body + orelse + [line for handler in handlers for line in handler.body])


def _defined_type(statement: ast.stmt) -> str | None:
    match statement:
        case ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if "TypeAlias" in ast.unparse(annotation):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_camel_case(name) and _makes_type(value):
            return name
        case _ if type(statement).__name__ == "TypeAlias":  # `type X = …`, from Python 3.12
            return ast.unparse(statement).split()[1].partition("[")[0]
    return None


def _is_camel_case(name: str) -> bool:
    return name.lstrip("_")[:1].isupper() and not name.isupper()


def _makes_type(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker)):
            return maker in TYPE_MAKERS
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _makes_type(left) and _makes_type(right)
        case ast.Constant(value=constant):
            return constant is None or isinstance(constant, str)  # `A | None`; a forward reference
        case ast.Subscript() | ast.Name() | ast.Attribute():  # `dict[str, int]`; another name for a type
            return True
    return False

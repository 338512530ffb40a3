"""Names in expressions: dotted chains, what an annotation names, what an expression reads."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from cutset.reproduce.python.syntax import Chain

UNKNOWN: Chain = ("",)
NOTHING: Chain = ("None",)
_TRANSPARENT = {"Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired"}
_SAY_NOTHING = {"Any", "object", "Union", "Callable", "Type", "type", "Self", "Awaitable", "Coroutine", "Generic"}


def chain_of(node: ast.expr) -> Chain:
    """The names of a dotted expression; its head is "" where it is no name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    names.append(node.id if isinstance(node, ast.Name) else "")
    return tuple(reversed(names))


def one_line(node: ast.expr) -> str:
    chain = chain_of(node)
    return ".".join(chain) if chain[0] else " ".join(ast.unparse(node).split())


def annotation_chain(node: ast.expr) -> Chain:  # noqa: PLR0911 - one return per form
    """The class that an annotation names: `Foo`, `"Foo"`, `Foo | None`, `Foo[int]`, `Optional[Foo]` alike."""
    match node:
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=str() as text):
            try:
                return annotation_chain(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return UNKNOWN
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [chain for chain in (annotation_chain(left), annotation_chain(right)) if chain != NOTHING]
            return sides[0] if len(sides) == 1 else UNKNOWN
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner) if name in _TRANSPARENT:
            return annotation_chain(inner.elts[0] if isinstance(inner, ast.Tuple) else inner)
        case ast.Subscript(value=generic):
            return annotation_chain(generic)
        case ast.Name() | ast.Attribute():
            chain = chain_of(node)
            return UNKNOWN if chain[-1] in _SAY_NOTHING else chain
    return UNKNOWN


def literal_chain(node: ast.expr) -> Chain:  # noqa: PLR0911 - one return per form
    """The class of a value that is written out."""
    match node:
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=value):
            return (type(value).__name__,)
        case ast.JoinedStr():
            return ("str",)
        case ast.Dict() | ast.DictComp():
            return ("dict",)
        case ast.List() | ast.ListComp():
            return ("list",)
        case ast.Set() | ast.SetComp():
            return ("set",)
        case ast.Tuple():
            return ("tuple",)
    return UNKNOWN


def reads_of(*nodes: ast.AST) -> tuple[Chain, ...]:
    """The names and attributes that expressions read; of `a.b.c()` only `a.b`, since `c` is what is done to it."""
    found: dict[Chain, None] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Call(func=func):
                waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
                waiting.append(func.value if isinstance(func, ast.Attribute) else func)
            case ast.Attribute(value=value):
                found[chain_of(node)] = None
                if not isinstance(value, ast.Name):
                    waiting.append(value)
            case ast.Name():
                found[(node.id,)] = None
            case ast.Lambda():
                pass
            case _:
                waiting += ast.iter_child_nodes(node)
    return tuple(found)


def is_name(node: ast.AST | None) -> TypeGuard[ast.Name | ast.Attribute]:
    return isinstance(node, ast.Name | ast.Attribute)


def target_chain(node: ast.expr) -> Chain:
    """What an assignment changes: `a.b[k] = v` changes `a.b`."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    return chain_of(node)


def flat_targets(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        return [one for item in node.elts for one in flat_targets(item)]
    return [node]


def handed_parts(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions whose value another one may be; a container is not told from what is in it: `{"a": f}` may be f."""
    match node:
        case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
            yield from handed_parts(inner)
        case ast.NamedExpr(value=inner) | ast.DictComp(value=inner):
            yield from handed_parts(inner)
        case ast.ListComp(elt=inner) | ast.SetComp(elt=inner) | ast.GeneratorExp(elt=inner):
            yield from handed_parts(inner)
        case ast.IfExp(body=first, orelse=second):
            yield from handed_parts(first)
            yield from handed_parts(second)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            yield from (part for item in items for part in handed_parts(item))
        case ast.BoolOp(values=items) | ast.Dict(values=items):
            yield from (part for item in items for part in handed_parts(item))
        case _:
            yield node


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether control never gets past the end of the statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break)


def caught_types(node: ast.expr | None) -> tuple[str, ...]:
    if node is None:
        return ("BaseException",)
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(".".join(chain_of(item)) for item in items)


def suppressed_types(call: ast.Call) -> tuple[str, ...]:
    return tuple(".".join(chain_of(item)) for item in call.args) if chain_of(call.func)[-1] == "suppress" else ()

"""Writes fault sites into the syntax tree of a file (ANDURIL §4.2). `runtime` loads it when there is a file to rewrite.

A call `f(x)` becomes `__cutset__[7](f)(x)`: the callee is evaluated, the visit counted, the arguments are evaluated,
and the call is made by the caller itself, so that `super()`, `locals()` and tracebacks know no difference. An
`await x` becomes `await __cutset__[7](x)`. If the call is awaited at once, `__cutset__[7](f, True)` says so.

A `raise` is only reached when the program already fails, so its site is where that is decided: in front of the `if`
(or `match`) whose branch holds it, further out while such a branch begins with it, and in front of the statements
before it that may leave the block (`if found: return it`, then `raise`). It does not leave a loop, a `try` or a `with`:
what handles the exception stays the same. There, `if __cutset__[7](False): pass` counts, or raises on the line of the
`raise`.

Where functions are to be told that ran, each begins with `__cutset__["3 12"]`, its file and its first line: nothing
but a lookup from the second time on.

Code in class bodies is left alone, since names mean there what a metaclass wants; so are annotations, which may
become text.
"""

from __future__ import annotations

import ast
import json
import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

KINDS = {ast.Call: "call", ast.Await: "await", ast.Raise: "raise"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody", "cases")
NOT_CODE = ("annotation", "returns", "type_params")
BRANCHES = (ast.If, getattr(ast, "match_case", ast.If))
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def compile_rewritten(path: str, rows: str, marks: int, *, is_script: bool) -> tuple[CodeType, list[str]]:
    """The code of a file, and what is wrong with the rows of the plan. A script ends with SystemExit.

    `marks` is the number of the file if its functions are to be told, else 0.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - the workload may not have loaded pathlib yet
        source = file.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when a file is compiled: as a rule long before, by another process
        tree = ast.parse(source, path)
        problems = rewrite_file(tree, path, rows, marks)
        if is_script:
            end = ast.parse("raise __cutset__.end").body[0]
            tree.body.append(_put(end, tree.body[-1] if tree.body else end))
        code = compile(tree, path, "exec", dont_inherit=True)
    return code, problems


def rewrite_file(tree: ast.Module, path: str, rows: str, marks: int) -> list[str]:
    """Rewrite a tree in place; what is wrong with the rows of the plan."""
    lost = rewrite(tree, json.loads(rows))
    if marks:
        mark_functions(tree, marks)
    return [
        f"site {site}: there is no {kind} to rewrite at {path}:{line}:{column}" for site, kind, line, column, *_ in lost
    ]


def rewrite(tree: ast.Module, rows: list[list[Any]]) -> list[list[Any]]:
    """Rewrite a tree in place; give back the rows for which it has no place."""
    wanted = {tuple(position): site for site, *position in rows}
    found, blocks = _collect(tree)
    raises = []
    for node, parent in found:
        kind = KINDS[type(node)]
        site = wanted.pop((kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset), None)
        if site is None:
            continue
        if kind == "raise":
            raises.append((site, node))
        elif kind == "await":
            node.value = _wrapped(site, node.value, "")
        else:
            _report_on_line_of_method(node)
            node.func = _wrapped(site, node.func, ", True" if isinstance(parent, ast.Await) else "")
    for site, node in sorted(raises, key=lambda each: (each[1].lineno, each[1].col_offset)):
        block, index = _where_decided(node, blocks)
        block.insert(index, _put(ast.parse(f"if __cutset__[{site}](False): pass").body[0], node))
    return [[site, *position] for position, site in wanted.items()]


def mark_functions(tree: ast.Module, number: int) -> None:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for field, value in ast.iter_fields(node):
            values = value if isinstance(value, list) else [value]
            if field not in NOT_CODE:
                todo.extend(each for each in values if isinstance(each, ast.AST))
        if isinstance(node, FUNCTIONS):
            # As `co_firstlineno`: of the first decorator, if there is one.
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            mark: Any = ast.parse(f"__cutset__['{number} {first}']").body[0]
            if isinstance(node, ast.Lambda):
                both = [_put(mark.value, node.body), node.body]  # the first is None
                node.body = ast.copy_location(ast.BoolOp(ast.Or(), both), node.body)
            else:
                start = 0 if ast.get_docstring(node, clean=False) is None else 1
                node.body.insert(start, _put(mark, node.body[0]))


def _collect(tree: ast.Module) -> tuple[list[tuple[Any, ast.AST]], dict[ast.AST, tuple[list[Any], ast.AST]]]:
    """Where sites may be, each with its parent; and for each statement the block that it is in, and whose that is."""
    found: list[tuple[Any, ast.AST]] = []
    blocks: dict[ast.AST, tuple[list[Any], ast.AST]] = {}
    todo: list[tuple[ast.AST, ast.AST, bool]] = [(tree, tree, False)]
    while todo:  # a recursion would not survive long chains of operators
        node, parent, in_class_body = todo.pop()
        if type(node) in KINDS and not in_class_body:
            found.append((node, parent))
        for field, value in ast.iter_fields(node):
            if field in NOT_CODE:
                continue
            in_class = in_class_body
            if field == "body" and isinstance(node, (ast.ClassDef, *FUNCTIONS)):
                in_class = isinstance(node, ast.ClassDef)
            if isinstance(value, ast.AST):
                todo.append((value, node, in_class))
            elif isinstance(value, list):
                todo.extend((item, node, in_class) for item in value if isinstance(item, ast.AST))
                if field in BLOCKS:
                    blocks.update((item, (value, node)) for item in value)
    return found, blocks


def _put(new: Any, where: Any) -> Any:
    for node in ast.walk(new):
        ast.copy_location(node, where)
    return new


def _wrapped(site: int, node: ast.expr, more: str) -> ast.expr:
    call: Any = ast.parse(f"__cutset__[{site}](None{more})", mode="eval").body
    _put(call, node).args[0] = node
    return call  # type: ignore[no-any-return]


def _report_on_line_of_method(call: ast.Call) -> None:
    """As Python 3.10 and later do where a call spans several lines and they see that a method is called."""
    method = call.func
    if sys.version_info < (3, 10) or not isinstance(method, ast.Attribute) or method.end_lineno == call.lineno:
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        return  # then they do not see it
    assert method.end_lineno is not None
    assert method.end_col_offset is not None
    call.lineno = method.end_lineno
    call.col_offset = method.end_col_offset - len(method.attr)


def _where_decided(node: ast.AST, blocks: dict[ast.AST, tuple[list[Any], ast.AST]]) -> tuple[list[Any], int]:
    """The block and the index in it where the site of a `raise` is."""
    is_nearest = True
    while True:
        block, owner = blocks[node]
        index = block.index(node)
        while index > 0 and _may_leave(block[index - 1]):
            index -= 1
        if not isinstance(owner, BRANCHES) or not (is_nearest or index == 0):
            return block, index
        node = owner if isinstance(owner, ast.If) else blocks[owner][1]
        is_nearest = False


def _may_leave(node: ast.AST, *, in_loop: bool = False) -> bool:
    """Whether a statement decides if what follows in its block is reached."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.expr)):
        return False
    if isinstance(node, (ast.Break, ast.Continue)):
        return not in_loop
    in_loop = in_loop or isinstance(node, LOOPS)
    return isinstance(node, ast.Return) or any(_may_leave(each, in_loop=in_loop) for each in ast.iter_child_nodes(node))

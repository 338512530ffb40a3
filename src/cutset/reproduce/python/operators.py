"""Operators of a function into tables: where `a[b] = c`, `a in b`, `a + b` or `f"{a}"` may run a special method."""

import ast

from cutset.reproduce.python.expressions import ExpressionReader
from cutset.reproduce.python.names import chain_of, is_name, one_line
from cutset.reproduce.python.special_methods import OPERATORS, ways_of
from cutset.reproduce.python.syntax import RESULT, EventKind

# ruff: noqa: N802 - the names of the methods are `ast`'s

_ITEMS = {ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__"}


class OperatorReader(ExpressionReader):
    def operate(self, node: ast.expr | ast.stmt, operand: ast.expr, method: str) -> None:
        """Only what some class defines is worth a row."""
        if self.implicit.isdisjoint(ways_of(method)):
            return
        if is_name(operand) and (chain := chain_of(operand))[0]:
            self.add_event(EventKind.OPERATE, node, one_line(operand), (*chain, method))
        elif isinstance(operand, ast.Call):
            made = (RESULT, str(self.calls[id(operand)]), method)
            self.add_event(EventKind.OPERATE, node, one_line(operand.func), made)

    def truth(self, node: ast.expr) -> None:
        match node:
            case ast.Name() | ast.Attribute():
                self.operate(node, node, "__bool__")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.truth(operand)
            case ast.BoolOp(values=values):
                for value in values:
                    self.truth(value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        self.operate(node, node.value, _ITEMS[type(node.ctx)])

    def visit_Compare(self, node: ast.Compare) -> None:
        self.generic_visit(node)
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                self.operate(node, right, "__contains__")
            elif method := OPERATORS.get(type(operator).__name__):
                self.operate(node, left, method)
                self.operate(node, right, method)
            left = right

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr):
            for value in node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]:
                self.operate(node, value, "__str__")
        elif method := OPERATORS.get(type(node.op).__name__):
            self.operate(node, node.left, method)
            self.operate(node, node.right, method.replace("__", "__r", 1))

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        self.generic_visit(node)
        self.operate(node, node.value, "__repr__" if node.conversion == ord("r") else "__format__")

"""Control flow of a function into tables: under which conditions and handlers control is where something can raise.

The condition of an `if` whose branch leaves the function or the loop is a condition of all that follows in its block:
it dominates it (ANDURIL §4.1, location nodes).
"""

import ast

from cutset.reproduce.python.expressions import LONGEST_TEXT
from cutset.reproduce.python.names import UNKNOWN, caught_types, chain_of, leaves, one_line, reads_of, suppressed_types
from cutset.reproduce.python.operators import OperatorReader
from cutset.reproduce.python.syntax import RESULT, Chain, EventKind, Guard, GuardKind, Try

# ruff: noqa: N802 - the names of the methods are `ast`'s


class FlowReader(OperatorReader):
    """Statements that steer control; definitions and assignments are `extract`'s."""

    def visit_If(self, node: ast.If) -> None:
        guard = self.condition(node.test)
        self.branch(guard, node.body)
        self.branch(guard, node.orelse)
        if leaves(node.body) or leaves(node.orelse):
            self.get_past([guard])

    def visit_While(self, node: ast.While) -> None:
        guard = self.condition(node.test, repeats=True)
        breaks = self.loop(guard, node)
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.get_past(breaks if forever else {guard, *breaks})

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.target)
        place, values = self.place(), self.values(node.iter)
        values += self.iterate(node.iter, asynchronous=isinstance(node, ast.AsyncFor))
        self.hand(node.target, node.iter)
        text = f"for {one_line(node.target)} in {one_line(node.iter)}"[:LONGEST_TEXT]
        reads = reads_of(node.iter)
        guard = self.add_guard(
            Guard(GuardKind.CONDITION, place, node.lineno, text, reads=reads, values=values, repeats=True)
        )
        self.get_past(self.loop(guard, node))

    visit_AsyncFor = visit_For  # noqa: N815 – the names are `ast`'s

    def loop(self, guard: int, node: ast.While | ast.For | ast.AsyncFor) -> set[int]:
        self.breaks.append(set())
        self.branch(guard, node.body)
        breaks = self.breaks.pop() - {guard}
        self.branch(guard, node.orelse)
        return breaks

    def visit_Break(self, node: ast.Break) -> None:  # noqa: ARG002
        if self.breaks:
            self.breaks[-1].add(self.guard)

    def visit_Match(self, node: ast.Match) -> None:
        values = self.values(node.subject)
        place, reads = self.place(), reads_of(node.subject)
        for case in node.cases:
            text = f"case {ast.unparse(case.pattern)}"[:LONGEST_TEXT]
            guard = self.add_guard(
                Guard(GuardKind.CONDITION, place, case.pattern.lineno, text, reads=reads, values=values)
            )
            with self.under(guard=guard, passed=()):
                self.block([case.pattern])
                if case.guard is not None:
                    self.get_past([self.condition(case.guard)])
                self.block(case.body)
            if leaves(case.body):
                self.get_past([guard])

    def visit_Assert(self, node: ast.Assert) -> None:
        guard = self.condition(node.test)
        if node.msg is not None:
            self.branch(guard, [node.msg])
        self.get_past([guard])

    def visit_Try(self, node: ast.Try) -> None:
        outer, attempt = self.attempt, len(self.tables.tries)
        place = self.place()
        self.tables.tries.append(Try(place, outer, ()))
        with self.under(attempt=attempt, passed=self.passed):
            self.block(node.body)
        handlers = []
        for handler in node.handlers:
            guard = self.add_guard(
                Guard(
                    GuardKind.HANDLER,
                    place,
                    handler.lineno,
                    f"except {one_line(handler.type)}" if handler.type else "except",
                    values=self.values(handler.type) if handler.type else (),
                    types=caught_types(handler.type),
                    binds=handler.name or "",
                    attempt=attempt,
                )
            )
            handlers.append(guard)
            if handler.name:
                self.note((handler.name,), UNKNOWN)
            with self.under(guard=guard, passed=(), handler=guard):
                self.block(handler.body)
        self.tables.tries[attempt] = Try(place, outer, tuple(handlers))
        with self.under(passed=self.passed):
            self.block(node.orelse)
        if node.finalbody:
            unwinding = Guard(
                GuardKind.FINALLY, place, node.finalbody[0].lineno, "finally", types=("BaseException",), attempt=attempt
            )
            with self.under(passed=(*self.passed, self.add_guard(unwinding))):
                self.block(node.finalbody)

    visit_TryStar = visit_Try  # type: ignore[assignment]  # noqa: N815 – its fields are the same

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        with self.under(attempt=self.attempt):
            for item in node.items:
                manager = item.context_expr
                self.targets = (chain_of(item.optional_vars)[-1],) if item.optional_vars else ()
                self.visit(manager)
                self.targets = ()
                if isinstance(item.optional_vars, ast.Name):
                    self.note_type(chain_of(item.optional_vars), manager)
                elif item.optional_vars is not None:
                    self.visit(item.optional_vars)
                if item.optional_vars is not None:
                    self.hand(item.optional_vars, manager)
                body = len(self.tables.tries)
                suppressed = suppressed_types(manager) if isinstance(manager, ast.Call) else ()
                made = self.calls.get(id(manager))
                chain = chain_of(manager) if made is None else (RESULT, str(made))
                self.add_event(EventKind.WITH, manager, one_line(manager), chain, body=body)
                self.tables.tries.append(Try(self.place(), self.attempt, (), suppressed))
                self.attempt = body
            passed = self.passed
            self.block(node.body)
            self.passed = passed

    visit_AsyncWith = visit_With  # noqa: N815

    def note_type(self, target: Chain, value: ast.expr) -> None:
        raise NotImplementedError

    def note(self, target: Chain, made: Chain) -> None:
        raise NotImplementedError

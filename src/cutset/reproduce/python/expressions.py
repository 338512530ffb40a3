"""Expressions of a function into tables: what can raise, and where control is then (ANDURIL §4.1)."""

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from cutset.reproduce.logs.statements import Parts
from cutset.reproduce.python.messages import text_parts
from cutset.reproduce.python.names import chain_of, flat_targets, handed_parts, is_name, one_line, reads_of
from cutset.reproduce.python.syntax import (
    LAMBDA,
    RESULT,
    RETURN,
    TEXT,
    Chain,
    CodeEvent,
    EventKind,
    Guard,
    GuardKind,
    Place,
)
from cutset.reproduce.python.tables import Tables

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[.:][A-Za-z_]\w*")
_MESSAGE_ARGUMENTS = {0, 1, 2, "msg", "message", "event", "fmt", "format"}  # where callers of loggers put the text
_SEQUENCES = (ast.Tuple, ast.List)
_BUILTINS = frozenset(("", *dir(builtins)))
LONGEST_TEXT = 100  # of a condition, when it is shown


def pattern_of(text: ast.expr) -> str:
    """Of a text, with `*` for what is not known before the program runs; "" if it is none."""
    return "".join("*" if part is None else part for part in text_parts(text))


class ExpressionReader(ast.NodeVisitor):
    """Operators are `operators`', statements that steer control are `flow`'s."""

    def __init__(self, tables: Tables, implicit: frozenset[str]) -> None:
        self.tables = tables
        self.implicit = implicit
        self.calls: dict[int, int] = {}  # the event of each call, and the function of each lambda, by its node
        self.lambdas: dict[int, int] = {}
        self.patterns: dict[tuple[int, str], str] = {}  # texts that variables got last, `*` for what is not known
        self.ordinals: dict[tuple[str, str], int] = defaultdict(int)
        self.place_index: dict[Place, int] = {}
        self.function = self.guard = self.attempt = self.handler = -1
        self.passed: tuple[int, ...] = ()
        self.breaks: list[set[int]] = []  # per loop around: the guards of its `break`s
        self.generating: set[int] = set()
        self.targets: tuple[str, ...] = ()  # of the assignment whose value comes next
        self.alone = False  # the expression that comes next is a statement
        self.awaited = False  # it is awaited

    # -- where control is ----------------------------------------------------------------------------------------------

    def place(self) -> int:
        place = Place(self.function, self.guard, self.passed, self.attempt, self.handler)
        index = self.place_index.get(place)
        if index is None:
            index = self.place_index[place] = len(self.tables.places)
            self.tables.places.append(place)
        return index

    @contextmanager
    def under(self, **changed: Any) -> Iterator[None]:
        before = {name: getattr(self, name) for name in changed}
        for name, value in changed.items():
            setattr(self, name, value)
        yield
        for name, value in before.items():
            setattr(self, name, value)

    def block(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def branch(self, guard: int, nodes: Iterable[ast.AST]) -> None:
        with self.under(guard=guard, passed=()):
            self.block(nodes)

    def values(self, *nodes: ast.AST) -> tuple[int, ...]:
        """Reads expressions; the events in them."""
        first = len(self.tables.events)
        self.block(nodes)
        return tuple(range(first, len(self.tables.events)))

    def add_guard(self, guard: Guard) -> int:
        self.tables.guards.append(guard)
        return len(self.tables.guards) - 1

    def condition(self, *tests: ast.expr, repeats: bool = False) -> int:
        place, first = self.place(), len(self.tables.events)
        for test in tests:
            self.visit(test)
            self.truth(test)
        values = tuple(range(first, len(self.tables.events)))
        text = " and ".join(one_line(test) for test in tests)[:LONGEST_TEXT]
        return self.add_guard(
            Guard(
                GuardKind.CONDITION,
                place,
                tests[0].lineno,
                text,
                reads=reads_of(*tests),
                values=values,
                repeats=repeats,
            )
        )

    def get_past(self, guards: Iterable[int]) -> None:
        self.passed = tuple(dict.fromkeys((*self.passed, *(guard for guard in guards if guard >= 0))))

    # -- expressions ---------------------------------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> None:
        guard = self.condition(node.test)
        self.branch(guard, [node.body, node.orelse])

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        if not any(isinstance(part, ast.Call | ast.Await) for value in node.values[1:] for part in ast.walk(value)):
            self.block(node.values)
            return
        guard = self.condition(node.values[0])
        self.branch(guard, node.values[1:])

    def comprehension(self, elements: list[ast.expr], generators: list[ast.comprehension]) -> None:
        tests = [test for generator in generators for test in generator.ifs]
        if not tests:
            self.block([*elements, *generators])
            return
        # The elements come first in the text, so that they are numbered first; their condition is filled in after.
        place = self.place()
        text = " and ".join(one_line(test) for test in tests)[:LONGEST_TEXT]
        guard = self.add_guard(Guard(GuardKind.CONDITION, place, tests[0].lineno, text, reads=reads_of(*tests)))
        self.branch(guard, elements)
        self.tables.guards[guard] = replace(self.tables.guards[guard], values=self.values(*generators))

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self.comprehension([node.elt], node.generators)

    visit_SetComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self.comprehension([node.key, node.value], node.generators)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.target)
        self.visit(node.iter)
        self.iterate(node.iter, asynchronous=bool(node.is_async))
        self.hand(node.target, node.iter)
        self.block(node.ifs)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.alone = isinstance(node.value, ast.Call | ast.Await)
        self.visit(node.value)
        self.alone = False

    def visit_Call(self, node: ast.Call) -> None:
        targets, alone, awaited = self.targets, self.alone, self.awaited
        self.targets, self.alone, self.awaited = (), False, False
        index = self.add_event(EventKind.CALL, node, one_line(node.func), chain_of(node.func))
        self.calls[id(node)] = index
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if not isinstance(receiver, ast.Name):
            self.visit(receiver)
        event = self.tables.events[index]
        if isinstance(node.func, ast.Attribute) and isinstance(receiver, ast.Call):
            event = replace(event, chain=(RESULT, str(self.calls[id(receiver)]), node.func.attr))
        passed: list[tuple[int | str, Chain]] = []
        texts: list[tuple[int | str, Parts]] = []
        slots: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
        slots += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        starred = [keyword.value for keyword in node.keywords if keyword.arg is None]
        for slot, value in slots:
            self.visit(value)
            passed.extend((slot, chain) for chain in self.handed(value))
            if slot in _MESSAGE_ARGUMENTS and (parts := text_parts(value)):
                texts.append((slot, parts))
        self.block(starred)
        self.tables.events[index] = replace(
            event,
            positional=-1 if any(isinstance(value, ast.Starred) for value in node.args) else len(node.args),
            keywords=tuple(keyword.arg or "**" for keyword in node.keywords),
            passed=tuple(passed),
            texts=tuple(texts),
            assigned=targets,
            alone=alone,
            awaited=awaited,
            through=() if event.chain[0] else tuple(self.handed(receiver)),
        )

    # -- functions as values -------------------------------------------------------------------------------------------

    def handed(self, value: ast.expr) -> Iterator[Chain]:
        """What an expression that was read may hand on, to be called, awaited or iterated over later."""
        for node in handed_parts(value):
            match node:
                case ast.Name() | ast.Attribute():
                    yield from self.of_class(node) or [chain_of(node)]
                case ast.Lambda():
                    yield LAMBDA, str(self.lambdas[id(node)])
                case ast.Call():
                    yield RESULT, str(self.calls[id(node)])
                    yield from self.looked_up(node)
                case ast.Constant(value=str() as text) if _DOTTED.fullmatch(text):
                    yield TEXT, text.replace(":", ".")

    def looked_up(self, node: ast.Call) -> Iterator[Chain]:
        """`getattr(self, "on_" + kind)` is `self.on_*`."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[receiver, name, *_]) if is_name(receiver):
                known = self.patterns.get((self.function, name.id), "*") if isinstance(name, ast.Name) else ""
                pattern = known or pattern_of(name)
                if pattern.strip("*"):
                    yield *chain_of(receiver), pattern

    def hand(self, target: ast.expr, value: ast.expr) -> None:
        """An assignment, as far as it may hand functions on."""
        if isinstance(target, _SEQUENCES) and isinstance(value, _SEQUENCES) and len(target.elts) == len(value.elts):
            for one, each in zip(target.elts, value.elts, strict=True):
                self.hand(one, each)
            return
        sources = tuple(dict.fromkeys(self.handed(value)))
        for one in flat_targets(target) if sources else ():
            chain = self.written(one)
            self.tables.flows.extend((self.function, chain, source) for source in sources)

    def of_class(self, node: ast.expr) -> list[Chain]:
        raise NotImplementedError

    def written(self, target: ast.expr) -> Chain:
        raise NotImplementedError

    def truth(self, node: ast.expr) -> None:
        raise NotImplementedError

    # -- other events --------------------------------------------------------------------------------------------------

    def visit_Await(self, node: ast.Await) -> None:
        self.awaited = isinstance(node.value, ast.Call)
        if not self.awaited:
            self.targets, self.alone = (), False
            self.add_event(EventKind.AWAIT, node, f"await {one_line(node.value)}", chain_of(node.value))
        self.visit(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Del) and (node.attr in self.implicit or self.made_up(node)):
            self.add_event(EventKind.READ, node, one_line(node), chain_of(node))
        self.visit(node.value)

    def made_up(self, node: ast.Attribute) -> bool:
        """Whether its object may have a special method for all attributes, as far as it is worth the while to ask."""
        method = "__getattr__" if isinstance(node.ctx, ast.Load) else "__setattr__"
        if method not in self.implicit or not isinstance(node.value, ast.Name):
            return False
        made = self.tables.variables[self.function].get(node.value.id, ())
        return len(made) == 1 and made[0][0] not in _BUILTINS

    def visit_Yield(self, node: ast.Yield) -> None:
        self.generating.add(self.function)
        if node.value is not None:
            self.visit(node.value)
            self.give_back(node.value)
        self.add_event(EventKind.YIELD, node, "yield", ())

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.generating.add(self.function)
        self.visit(node.value)
        self.give_back(node.value)
        self.iterate(node.value, asynchronous=False)

    def give_back(self, value: ast.expr) -> None:
        self.tables.flows.extend((self.function, (RETURN,), source) for source in self.handed(value))

    def visit_Raise(self, node: ast.Raise) -> None:
        raised = node.exc
        constructs = isinstance(raised, ast.Call)
        kind = raised.func if isinstance(raised, ast.Call) else raised
        text = f"raise {one_line(kind)}" if kind is not None else "raise"
        chain = chain_of(kind) if kind is not None else ()
        self.add_event(EventKind.RAISE, node, text, chain, constructs=constructs)
        if isinstance(raised, ast.Call):  # the making of the exception is no event of its own, yet is numbered
            self.ordinals[self.tables.functions[self.function].site_name, one_line(raised.func)] += 1
            self.block([*raised.args, *raised.keywords])
        elif raised is not None:
            self.visit(raised)
        if node.cause is not None:
            self.visit(node.cause)

    def iterate(self, node: ast.expr, *, asynchronous: bool) -> tuple[int, ...]:
        """Over what was just read."""
        if isinstance(node, ast.Name | ast.Attribute):
            chain = chain_of(node)
        elif isinstance(node, ast.Call):
            chain = (RESULT, str(self.calls[id(node)]))
        else:
            return ()
        method = "__anext__" if asynchronous else "__next__"
        return (self.add_event(EventKind.ITERATE, node, one_line(node), (*chain, method)),)

    def add_event(
        self,
        kind: EventKind,
        node: ast.expr | ast.stmt,
        text: str,
        chain: Chain,
        *,
        body: int = -1,
        constructs: bool = False,
        passed: tuple[tuple[int | str, Chain], ...] = (),
        through: tuple[Chain, ...] = (),
    ) -> int:
        ordinal = 0
        if kind in (EventKind.CALL, EventKind.AWAIT, EventKind.RAISE):
            key = (self.tables.functions[self.function].site_name, text)
            ordinal = self.ordinals[key]
            self.ordinals[key] += 1
        self.tables.events.append(
            CodeEvent(
                kind,
                self.function,
                self.place(),
                text,
                node.lineno,
                node.col_offset,
                node.end_lineno or node.lineno,
                node.end_col_offset or node.col_offset,
                ordinal,
                chain,
                positional=len(passed),
                passed=passed,
                through=through,
                body=body,
                constructs=constructs,
            )
        )
        return len(self.tables.events) - 1

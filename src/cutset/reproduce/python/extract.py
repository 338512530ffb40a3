"""One module's syntax tree into rows of the tables of `syntax`: names as they are written, nothing resolved yet.

Calls are numbered as they appear, an outer call before those in its arguments, so that a site has the same name for
everybody who reads the same source.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cutset.reproduce.python.expressions import pattern_of
from cutset.reproduce.python.flow import FlowReader
from cutset.reproduce.python.lazy_imports import absolute_name, imported_by, imports_in, lazy_names
from cutset.reproduce.python.messages import text_parts
from cutset.reproduce.python.names import (
    NOTHING,
    UNKNOWN,
    annotation_chain,
    chain_of,
    flat_targets,
    is_name,
    literal_chain,
    one_line,
    reads_of,
    target_chain,
)
from cutset.reproduce.python.special_methods import OPERATORS
from cutset.reproduce.python.syntax import (
    LAMBDA,
    MODULE,
    RESULT,
    RETURN,
    Chain,
    Class,
    EventKind,
    Function,
    Module,
    Write,
)
from cutset.reproduce.python.tables import Tables

# ruff: noqa: N802 - the names of the methods are `ast`'s

_T = TypeVar("_T")
_NO_PARAMETERS = ast.parse("lambda: None", mode="eval").body


def read_module(
    tree: ast.Module, name: str, path: str, lines: int, *, tables: Tables, implicit: frozenset[str], injectable: bool
) -> Module:
    """`implicit` are names by which code runs without being called, in any module."""
    reader = _ModuleReader(name, tables, implicit, is_package=path.endswith("__init__.py"))
    reader.read(tree)
    return Module(
        name=name,
        path=path,
        injectable=injectable,
        imports=_frozen(reader.imports),
        functions=_frozen(reader.functions),
        classes=reader.classes,
        constants=_frozen(reader.constants),
        lazy=_frozen(reader.lazy) if "__getattr__" in reader.defined() else {},
        lines=lines,
    )


def _frozen(lists: Mapping[str, Sequence[_T]]) -> dict[str, tuple[_T, ...]]:
    return {name: tuple(items) for name, items in lists.items()}


class _ModuleReader(FlowReader):
    def __init__(self, module: str, tables: Tables, implicit: frozenset[str], *, is_package: bool) -> None:
        super().__init__(tables, implicit)
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.imports: dict[str, list[str]] = defaultdict(list)
        self.functions: dict[str, list[int]] = defaultdict(list)
        self.classes: dict[str, int] = {}
        self.constants: dict[str, list[Chain]] = {}
        self.lazy: dict[str, list[str]] = defaultdict(list)
        self.foreign: dict[tuple[int, str], int] = {}  # names that are `global` or `nonlocal` in a function, and whose
        self.names: list[str] = []  # of the definitions around
        self.owner = self.top = -1  # the class whose body this is; the function that is the module's top level
        self.methods: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.attributes: dict[int, dict[str, list[Chain]]] = defaultdict(lambda: defaultdict(list))

    def read(self, tree: ast.Module) -> None:
        end_line = tree.body[-1].end_lineno or 1 if tree.body else 1
        self.function = self.top = self.add_function(MODULE, MODULE, (1, end_line), _NO_PARAMETERS)
        self.block(tree.body)
        for name in self.classes.values():
            bare = self.tables.classes[name]
            self.tables.classes[name] = replace(
                bare, methods=_frozen(self.methods[name]), attributes=_frozen(self.attributes[name])
            )
        for index in self.generating:
            self.tables.functions[index] = replace(self.tables.functions[index], generates=True)

    def defined(self) -> set[str]:
        """At the module's top level."""
        return {*self.functions, *self.tables.variables[self.top]}

    # -- definitions ---------------------------------------------------------------------------------------------------

    def add_function(
        self, name: str, site_name: str, lines: tuple[int, int], node: ast.AST, decorators: Sequence[ast.expr] = ()
    ) -> int:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        plain = [*node.args.posonlyargs, *node.args.args]
        returns = None if isinstance(node, ast.Lambda) else node.returns
        function = Function(
            module=self.module,
            name=name,
            site_name=site_name,
            line=lines[0],
            end_line=lines[1],
            owner=-1 if isinstance(node, ast.Lambda) else self.owner,
            outer=self.function,
            parameters=tuple(argument.arg for argument in plain),
            required=len(plain) - len(node.args.defaults),
            starred=node.args.vararg.arg if node.args.vararg is not None else "",
            keyworded=node.args.kwarg.arg if node.args.kwarg is not None else "",
            keyword_only=tuple(argument.arg for argument in node.args.kwonlyargs),
            defaults=tuple(
                (argument.arg, chain_of(default))
                for argument, default in [
                    *zip(reversed(plain), reversed(node.args.defaults), strict=False),
                    *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
                ]
                if isinstance(default, ast.Name | ast.Attribute)
            ),
            decorators=tuple(chain_of(item.func if isinstance(item, ast.Call) else item) for item in decorators),
            returns=annotation_chain(returns) if returns is not None else UNKNOWN,
            asynchronous=isinstance(node, ast.AsyncFunctionDef),
            generates=False,
            imported=name == MODULE,
        )
        self.tables.functions.append(function)
        index = len(self.tables.functions) - 1
        for starred, container in ((node.args.vararg, "tuple"), (node.args.kwarg, "dict")):
            if starred is not None:
                self.tables.variables[index][starred.arg].append((container,))
        for argument in [*plain, *node.args.kwonlyargs]:
            made = annotation_chain(argument.annotation) if argument.annotation is not None else UNKNOWN
            self.tables.variables[index][argument.arg].append(made)
        return index

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.block([*node.decorator_list, node.args])
        name = ".".join((*self.names, node.name))
        lines = (min([node.lineno, *(item.lineno for item in node.decorator_list)]), node.end_lineno or node.lineno)
        index = self.add_function(name, name, lines, node, node.decorator_list)
        if self.owner >= 0:
            self.methods[self.owner][node.name].append(index)
        elif self.tables.functions[self.function].imported:
            self.functions[node.name].append(index)
        else:
            self.tables.local_functions[self.function][node.name].append(index)
        for item in node.decorator_list:
            chain = chain_of(item) if is_name(item) else (RESULT, str(self.calls.get(id(item), -1)))
            if chain != (RESULT, "-1"):
                self.add_event(EventKind.DECORATE, item, one_line(item), chain, passed=((0, (LAMBDA, str(index))),))
        with self.under(names=[*self.names, node.name]):
            self.body(index, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 – the names are `ast`'s

    def body(self, function: int, nodes: Iterable[ast.AST]) -> None:
        with self.under(function=function, owner=-1, guard=-1, passed=(), attempt=-1, handler=-1, breaks=[]):
            self.block(nodes)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.targets, self.alone = (), False
        around = self.tables.functions[self.function]
        name = LAMBDA if around.imported else f"{around.name}.{LAMBDA}"
        site_name = LAMBDA if around.imported else around.site_name
        lines = (node.lineno, node.end_lineno or node.lineno)
        # Its row comes before those of lambdas in its defaults: whoever passes it counts on that.
        index = self.lambdas[id(node)] = self.add_function(name, site_name, lines, node)
        self.visit(node.args)
        self.body(index, [ast.copy_location(ast.Return(node.body), node)])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.block([*node.decorator_list, *node.bases, *node.keywords])
        name = ".".join((*self.names, node.name))
        bases = tuple(chain_of(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases)
        index = len(self.tables.classes)
        self.tables.classes.append(Class(self.module, name, bases, {}, {}))
        self.classes[name if name not in self.classes else f"{name}#{index}"] = index
        self.tables.local_classes[self.function][node.name] = index
        runs = self.function
        if not self.tables.functions[runs].imported:  # a class made at run time: its body is a function of its own
            lines = (node.lineno, node.end_lineno or node.lineno)
            runs = self.add_function(name, name, lines, _NO_PARAMETERS)
        flow = {"guard": -1, "passed": (), "attempt": -1, "handler": -1} if runs != self.function else {}
        with self.under(names=[*self.names, node.name], owner=index, function=runs, **flow):
            self.block(node.body)

    # -- imports and assignments ---------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            first = alias.name.partition(".")[0]
            self.imports[alias.asname or first].append(alias.name if alias.asname else first)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        source = [node.module] if node.module else []
        if node.level:
            parts = self.package.split(".")
            source = [*parts[: len(parts) - node.level + 1], *source]
        for alias in node.names:
            self.imports[alias.asname or alias.name].append(".".join([*source, alias.name]))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.assign(node.targets, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.assign([node.target], node.value, adds=True)
        if method := OPERATORS.get(type(node.op).__name__):
            self.operate(node, node.target, method.replace("__", "__i", 1))
        if isinstance(node.target, ast.Subscript):
            self.operate(node, node.target.value, "__getitem__")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.assign([node.target], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.note(chain_of(node.target), annotation_chain(node.annotation))
        if node.value is not None:
            self.assign([node.target], node.value, annotated=True)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.visit(target)
            self.write(self.place(), target_chain(target), target, ())

    def assign(
        self, targets: Sequence[ast.expr], value: ast.expr, *, annotated: bool = False, adds: bool = False
    ) -> None:
        self.block(target for target in targets if not isinstance(target, ast.Name))
        chains = [self.written(one) for target in targets for one in flat_targets(target)]
        self.targets = tuple(chain[-1] for chain in chains)
        values = self.values(value)
        self.targets = ()
        place = self.place()
        for chain in chains:
            self.write(place, chain, value, values, adds=adds)
        module = absolute_name(imported_by(value), self.package)
        for target in targets:
            self.hand(target, value)
            if isinstance(target, ast.Name):
                self.patterns[self.function, target.id] = pattern_of(value)
            elif isinstance(target, ast.Tuple | ast.List) and is_name(value):
                self.iterate(value, asynchronous=False)
            if module and isinstance(target, ast.Name):
                self.imports[target.id].append(module)
            elif not annotated:
                self.note_target(target, value)
                self.note_property(target, value)
        if self.tables.functions[self.function].imported:
            self.note_constant(chains, value)

    def note_property(self, target: ast.expr, value: ast.expr) -> None:
        """`x = property(get_x)` in a class: `x` runs `get_x`."""
        match target, value:
            case ast.Name(id=name), ast.Call(func=ast.Name(id=made) | ast.Attribute(attr=made), args=args):
                if self.owner >= 0 and made.endswith("property"):
                    known = (self.methods[self.owner].get(each.id, []) for each in args if isinstance(each, ast.Name))
                    self.methods[self.owner][name] += [method for methods in known for method in methods]

    def note_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for one in flat_targets(target):
                self.note(chain_of(one), UNKNOWN)
        else:
            self.note_type(chain_of(target), value)

    def note_constant(self, chains: Sequence[Chain], value: ast.expr) -> None:
        for name, target in lazy_names(value):
            self.lazy[name].append(absolute_name(target, self.package))
        if isinstance(value, ast.Tuple | ast.List):
            for chain in chains:
                self.constants[chain[-1]] = [chain_of(item) for item in value.elts]

    def of_class(self, node: ast.expr) -> list[Chain]:
        """Methods that a name in the body of their class stands for."""
        known = self.methods[self.owner].get(node.id, []) if self.owner >= 0 and isinstance(node, ast.Name) else []
        return [(LAMBDA, str(method)) for method in known]

    def written(self, target: ast.expr) -> Chain:
        chain = target_chain(target)
        return (self.names[-1], *chain) if self.owner >= 0 and len(chain) == 1 else chain  # an attribute of the class

    def note_type(self, target: Chain, value: ast.expr) -> None:
        """What a variable or attribute is made from: a constructor, or a parameter with an annotation."""
        value = value.value if isinstance(value, ast.Await) else value
        made = literal_chain(value)
        if isinstance(value, ast.Call):
            made = chain_of(value.func)
        elif isinstance(value, ast.Name):
            known = self.tables.variables[self.function].get(value.id, [])
            made = known[0] if len(known) == 1 else UNKNOWN
        self.note(target, made)

    def note(self, target: Chain, made: Chain) -> None:
        if made == NOTHING:
            return
        method = self.tables.functions[self.function]
        if len(target) == 1 and self.owner >= 0:
            self.attributes[self.owner][target[0]].append(made)
        elif len(target) == 1:
            scope = self.foreign.get((self.function, target[0]), self.function)
            self.tables.variables[scope][target[0]].append(made)
        elif len(target) == 2 and method.owner >= 0 and target[0] in method.parameters[:1]:
            self.attributes[method.owner][target[1]].append(made)

    def write(self, place: int, target: Chain, value: ast.expr, values: tuple[int, ...], *, adds: bool = False) -> None:
        source = chain_of(value) if isinstance(value, ast.Name | ast.Attribute) else ()
        text = RETURN if target == (RETURN,) else f"{'.'.join(target)} = …"
        self.tables.writes.append(
            Write(
                place,
                target[-1],
                target,
                self.foreign.get((self.function, target[0]), self.function),
                value.lineno,
                text,
                reads_of(value),
                values,
                source,
                text_parts(value),
                adds,
            )
        )

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):  # by a loop or an unpacking; assignments know more
            self.note((node.id,), UNKNOWN)

    def visit_Global(self, node: ast.Global) -> None:
        top = self.function
        while self.tables.functions[top].outer >= 0:
            top = self.tables.functions[top].outer
        self.foreign.update({(self.function, name): top for name in node.names})

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.foreign.update({(self.function, name): self.tables.functions[self.function].outer for name in node.names})

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value or ast.copy_location(ast.Constant(None), node)
        place, values = self.place(), self.values(value)
        self.write(place, (RETURN,), value, values)
        self.give_back(value)

    # -- imports that are no statements --------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        super().visit_Expr(node)
        if isinstance(node.value, ast.Call):
            self.block(statement for argument in node.value.args for statement in imports_in(argument))

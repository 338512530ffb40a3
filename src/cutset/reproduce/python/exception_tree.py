"""Reads the exception classes of a package from its sources, without importing it, and how each can be constructed.

The JVM declares what a method throws, so ANDURIL (§4.1) needs no such thing. In Python, the classes that a library
defines for its users are the best account of what its calls raise.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutset.reproduce.python.text_formats import text_formats

MESSAGE = "{message}"  # stands for the message in the arguments of a constructor
BUILTIN = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}

_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)\)", re.MULTILINE)
_LAST_NAME = re.compile(rb"(\w+)\s*(?:,|$)")
_EXCEPTION_NAME = re.compile(r"(Error|Exception|error|timeout|Timeout|Empty|Full|Fault)$")
_DATA_CLASS = re.compile(r"\b(dataclass|define|frozen|attrs|attr\.s|mutable)\b")
_FIELD = re.compile(r"\{(\w+)[^}]*\}")
_NOT_SHIPPED = frozenset({"tests", "test", "testing", "__pycache__"})
_OF_MAPPINGS = frozenset({"get", "items", "keys", "values", "copy", "pop", "update"})
_OF_STRINGS = frozenset(dir(str))

# What a required argument may be, by its annotation and else by its name; the first that is found counts.
_BY_ANNOTATION = (
    (r"\bOSError\b", f"OSError(5, {MESSAGE})"),
    (r"Exception\b|Error\b", f"Exception({MESSAGE})"),
    (r"^Any$|^object$", MESSAGE),
    (r"\bNone\b|Optional", "None"),
    (r"^str\b", MESSAGE),
    (r"^bool\b", "False"),
    (r"^int\b", "500"),
    (r"^float\b", "1.0"),
    (r"^bytes\b", "b''"),
    (r"(?i)^(typing\.)?(dict|mapping|mutablemapping)\b", "{}"),
    (r"(?i)^(typing\.)?(list|sequence|iterable|collection)\b", "[]"),
    (r"(?i)^(typing\.)?tuple\b", "()"),
)
_BY_NAME = (
    (r"(^|_)(message|msg|reason|detail|details|text|description|title|value)$", MESSAGE),
    (r"(^|_)(e|ex|exc|exception|orig|original|cause|error|err|inner)$", f"Exception({MESSAGE})"),
    (r"(^|_)(code|status|errno|status_code)$", "500"),
    (r"(^|_)(timeout|seconds|delay|retry_after)$", "1.0"),
    (r"(^|_)(params|headers|kwargs|kw|info|context|data|response|extra)$", "{}"),
    (r"(^|_)(args|errors|exceptions|items|names)$", "()"),
)


@dataclass(frozen=True, slots=True)
class ExceptionClass:
    dotted: str
    bases: tuple[str, ...]  # dotted, where the imports tell
    arguments: str  # of its constructor, as source text
    guessed: int  # how many of them are more than a message: the more, the less likely that the constructor takes them
    aliases: tuple[str, ...] = ()  # other names for it in its package
    parameters: tuple[tuple[str, str], ...] = ()  # that are given an argument, by name, with the usual one
    optional: tuple[str, ...] = ()  # parameters that have a default
    formats: tuple[str, ...] = ()  # of its text, nearest first: expressions with a group for each parameter they show

    @property
    def public(self) -> str:
        """Its name as users write it: `httpx.ConnectError`, though it is defined in `httpx._exceptions`."""
        if "._" not in self.dotted:
            return self.dotted
        return min((self.dotted, *self.aliases), key=lambda name: ("._" in name, len(name), name))


@dataclass(frozen=True, slots=True)
class _Module:
    classes: Mapping[str, ast.ClassDef]  # by dotted name
    names: Mapping[str, str]  # what a name at module level stands for
    stars: Sequence[str]  # modules that it imports all names of


def exception_tree(sources: Path) -> list[ExceptionClass]:
    """Of a package's folder or a module's file: all classes that derive from an exception, sorted by name."""
    modules = {name: module for name, path in _telling_files(sources) if (module := _read(name, path))}
    nodes = {dotted: node for module in modules.values() for dotted, node in module.classes.items()}
    bases = {
        dotted: tuple(_follow(_in_scope(text, dotted, name, module), modules, nodes) for text in _base_names(node))
        for name, module in modules.items()
        for dotted, node in module.classes.items()
    }
    raised = _descendants(bases)
    aliases: dict[str, set[str]] = {dotted: set() for dotted in raised}
    for name, target in _exported(modules, raised):
        resolved = _follow(target, modules, nodes)
        if resolved in aliases and name != resolved:
            aliases[resolved].add(name)
    tree = []
    for dotted in sorted(raised):
        line = [nodes[name] for name in _ancestry(dotted, bases)]
        given = next((one for node in line if (one := _construction(node, line)) is not None), [("", MESSAGE)])
        tree.append(
            ExceptionClass(
                dotted,
                bases[dotted],
                ", ".join(literal for _, literal in given),
                sum(MESSAGE not in literal for _, literal in given),
                tuple(sorted(aliases[dotted])),
                tuple(given),
                next((names for node in line if (names := _optional(node)) is not None), ()),
                tuple(dict.fromkeys(pattern for node in line for pattern in text_formats(node))),
            )
        )
    return tree


def _telling_files(sources: Path) -> list[tuple[str, Path]]:
    """Files that define exceptions, as far as names tell, and those that re-export: to parse all would take long."""
    root = sources.parent
    while (root / "__init__.py").exists():
        root = root.parent
    found = sources.rglob("*.py") if sources.is_dir() else [sources]
    files = [path for path in sorted(found) if _NOT_SHIPPED.isdisjoint(path.relative_to(root).parts)]
    defined = {
        path: [(name, set(_LAST_NAME.findall(bases))) for name, bases in _CLASS.findall(path.read_bytes())]
        for path in files
    }
    known = {name.encode() for name in BUILTIN}
    known |= {base for classes in defined.values() for _, bases in classes for base in bases if _sounds_raised(base)}
    size = 0
    while size < len(known):
        size = len(known)
        known |= {name for classes in defined.values() for name, bases in classes if bases & known}
    return [
        (_module_name(path.relative_to(root)), path)
        for path, classes in defined.items()
        if path.name == "__init__.py" or any(name in known for name, _ in classes)
    ]


def _sounds_raised(base: bytes) -> bool:
    return _EXCEPTION_NAME.search(base.decode(errors="replace")) is not None


def _module_name(relative: Path) -> str:
    parts = relative.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _read(name: str, path: Path) -> _Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the library's escape sequences
            body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):  # templates, or for another Python
        return None
    module = _Module(dict(_classes(name, body)), names := {}, stars := [])
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for statement in _statements(body):
        match statement:
            case ast.Import(names=imported):
                for alias in imported:
                    top = alias.name.partition(".")[0]
                    names[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom():
                origin = _origin(statement, package)
                stars += [origin for alias in statement.names if alias.name == "*"]
                names |= {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in statement.names}
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name() | ast.Attribute() as value):
                names[target] = _in_scope(ast.unparse(value), f"{name}.{target}", name, module)
    return module


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Also those under conditions: imports are often tried, and classes defined for a version of Python."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for part in ast.iter_child_nodes(statement):
                if isinstance(part, ast.ExceptHandler):
                    yield from _statements(part.body)
            yield from _statements(child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt))


def _classes(scope: str, body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.ClassDef]]:
    for statement in _statements(body):
        if isinstance(statement, ast.ClassDef):
            yield f"{scope}.{statement.name}", statement
            yield from _classes(f"{scope}.{statement.name}", statement.body)


def _origin(statement: ast.ImportFrom, package: str) -> str:
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - statement.level + 1], *filter(None, [statement.module])])


def _base_names(node: ast.ClassDef) -> Iterator[str]:
    for base in node.bases:
        match base:
            case ast.Call(args=args):  # with_metaclass(Meta, Base)
                yield from (ast.unparse(argument) for argument in args)
            case ast.Subscript(value=value):  # Base[T]
                yield ast.unparse(value)
            case _:
                yield ast.unparse(base)


def _in_scope(text: str, dotted: str, name: str, module: _Module) -> str:
    """What a name means where `dotted` is defined."""
    head, dot, rest = text.partition(".")
    for scope in (dotted.rpartition(".")[0], name):
        if f"{scope}.{head}" in module.classes and f"{scope}.{head}" != dotted:  # `class TimeoutError(TimeoutError)`
            return f"{scope}.{text}"
    return module.names.get(head, head) + dot + rest


def _follow(dotted: str, modules: Mapping[str, _Module], nodes: Mapping[str, ast.ClassDef]) -> str:
    """Through re-exports to the definition, as far as it is in the package."""
    for _ in range(10):  # imports in circles are possible
        if dotted in nodes:
            return dotted
        name = dotted
        while name and name not in modules:
            name = name.rpartition(".")[0]
        if not name:
            break
        head, dot, rest = dotted[len(name) + 1 :].partition(".")
        starred = [f"{star}.{head}" for star in modules[name].stars if f"{star}.{head}" in nodes]
        target = modules[name].names.get(head) or next(iter(starred), None)
        if not target:
            break
        dotted = target + dot + rest
    return dotted.removeprefix("builtins.")


def _descendants(bases: Mapping[str, tuple[str, ...]]) -> set[str]:
    def is_exception(base: str) -> bool:
        if base in BUILTIN:
            return not issubclass(BUILTIN[base], Warning)
        return base in raised or (base not in bases and _EXCEPTION_NAME.search(base) is not None)

    raised: set[str] = set()
    size = -1
    while size < len(raised):
        size = len(raised)
        raised |= {dotted for dotted, names in bases.items() if any(map(is_exception, names))}
    return raised


def _ancestry(dotted: str, bases: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The class and those of its package that it derives from, nearest first."""
    order = [dotted]
    for name in order:  # grows meanwhile
        order += [base for base in bases[name] if base in bases and base not in order]
    return order


def _exported(modules: Mapping[str, _Module], raised: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name, module in modules.items():
        yield from ((f"{name}.{local}", target) for local, target in module.names.items())
        for dotted in raised:
            defined_in, _, last = dotted.rpartition(".")
            if defined_in in module.stars:
                yield f"{name}.{last}", dotted


def _construction(node: ast.ClassDef, line: Iterable[ast.ClassDef]) -> list[tuple[str, str]] | None:
    """The arguments that its own constructor needs, by parameter; None if it has no own one.

    `line` is the class that is to be constructed and those that it derives from.
    """
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in {"__init__", "__new__"}:
            given = _arguments(statement)
            if not given and statement.args.kwarg:
                given = [(name, f"{name}={_literal(name, None, set(), first=True)}") for name in _template_fields(line)]
            return given
    if any(_DATA_CLASS.search(ast.unparse(decorator)) for decorator in node.decorator_list):
        fields = [field for field in node.body if isinstance(field, ast.AnnAssign) and not field.value]
        return [
            (name, _literal(name, field.annotation, set(), first=False))
            for field in fields
            if (name := ast.unparse(field.target))
        ]
    return None


def _arguments(function: ast.FunctionDef) -> list[tuple[str, str]]:
    signature = function.args
    positional = [*signature.posonlyargs, *signature.args][1:]
    required = positional[: max(0, len(positional) - len(signature.defaults))]
    uses = _uses(function)
    given = [
        (
            argument.arg,
            _literal(argument.arg, argument.annotation, uses.get(argument.arg, set()), first=argument is positional[0]),
        )
        for argument in required
    ]
    if sum(MESSAGE in literal for _, literal in given) > 1 and not re.search(_BY_NAME[0][0], given[0][0].lower()):
        given[0] = (given[0][0], "None")  # a statement, say: what went wrong is in another argument
    if not required and positional:  # a message that may be left out is better given
        literal = _literal(positional[0].arg, positional[0].annotation, set(), first=False)
        given = [(positional[0].arg, literal)] if literal == MESSAGE else []
    elif not required and signature.vararg:
        given = [(signature.vararg.arg, MESSAGE)]
    return given + [
        (
            argument.arg,
            f"{argument.arg}="
            + _literal(argument.arg, argument.annotation, uses.get(argument.arg, set()), first=False),
        )
        for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
        if default is None
    ]


def _optional(node: ast.ClassDef) -> tuple[str, ...] | None:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in {"__init__", "__new__"}:
            signature = statement.args
            keywords = zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
            return (
                *(argument.arg for argument in signature.args[len(signature.args) - len(signature.defaults) :]),
                *(argument.arg for argument, default in keywords if default is not None),
            )
    return None


def _template_fields(line: Iterable[ast.ClassDef]) -> list[str]:
    """Of the nearest message template: constructors with arguments of any name format one that each class sets."""
    for node in line:
        for statement in node.body:
            match statement:
                case ast.Assign(value=ast.Constant(value=str(text))):
                    if fields := [name for name in _FIELD.findall(text) if name.isidentifier()]:
                        return list(dict.fromkeys(fields))
    return []


def _uses(function: ast.FunctionDef) -> dict[str, set[str]]:
    """The attributes that the constructor itself reads from each of its arguments; `get` if it takes items."""
    uses: dict[str, set[str]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                uses.setdefault(name, set()).add(attribute)
            case ast.Subscript(value=ast.Name(id=name)):
                uses.setdefault(name, set()).add("get")
    return uses


def _literal(name: str, annotation: ast.expr | None, uses: set[str], *, first: bool) -> str:
    """An argument that the constructor is likely to take: by its annotation, its name, or what is done with it."""
    kind = ast.unparse(annotation).strip("'\"") if annotation else ""
    named = next((literal for pattern, literal in _BY_NAME if re.search(pattern, name.lower())), "")
    if named == MESSAGE and (not kind or "str" in kind):
        return MESSAGE
    typed = next((literal for pattern, literal in _BY_ANNOTATION if re.search(pattern, kind)), "") if kind else named
    if typed:
        return typed
    if uses & _OF_MAPPINGS:
        return "{}"
    if uses and (kind or not uses <= _OF_STRINGS):
        return f"types.SimpleNamespace({', '.join(f'{attribute}=None' for attribute in sorted(uses))})"
    return MESSAGE if first and not kind else "None"

"""What a name in the source stands for: scopes, imports (also of names that other modules import), classes, types.

Types are known only where the source says them plainly: a constructor, an annotation, `self`. Everything else is
unknown, and whoever asks falls back on the name alone.
"""

import builtins
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cutset.reproduce.python.names import UNKNOWN
from cutset.reproduce.python.syntax import LAMBDA, RESULT, Chain, CodeEvent, Function, Module, self_class
from cutset.reproduce.python.tables import Tables

_DEEPEST = 8  # imports of imports, attributes of attributes: what is deeper is unknown
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Meaning:
    """All that a name may stand for; empty if nothing is known."""

    functions: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    external: tuple[str, ...] = ()  # dotted names outside the analysed code
    variable: tuple[int, str] | None = None  # of a function
    module: str = ""


@dataclass(frozen=True, slots=True)
class Types:
    classes: tuple[int, ...] = ()
    external: tuple[str, ...] = ()
    complete: bool = False  # there are no others

    def __bool__(self) -> bool:
        return bool(self.classes or self.external)


NO_TYPE = Types()


@dataclass(slots=True)
class Lookup:
    tables: Tables
    modules: Mapping[str, Module]
    subclasses: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    methods: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # by name, of all classes
    external_bases: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    bases: dict[int, tuple[int, ...]] = field(default_factory=dict)
    module_functions: dict[str, int] = field(default_factory=dict)  # the top level of each module
    aliases: dict[tuple[int, str], list[Chain]] = field(
        default_factory=lambda: defaultdict(list)
    )  # `name = other.name`
    data_names: set[str] = field(default_factory=set)  # of attributes that some class keeps something in
    eventful: set[int] = field(default_factory=set)  # functions in which something may raise
    _types: dict[tuple[int, Chain], Types] = field(default_factory=dict)
    _methods: dict[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.eventful.update(event.function for event in self.tables.events)
        for index, function in enumerate(self.tables.functions):
            if function.imported:
                self.module_functions[function.module] = index
        for write in self.tables.writes:
            if write.source and write.source[0] and len(write.target) == 1:
                self.aliases[write.scope, write.name].append(write.source)
        for each in self.tables.classes:
            self.data_names.update(each.attributes)
            for name, functions in each.methods.items():
                self.methods[name].extend(functions)
                if any(is_property(self.tables.functions[one]) for one in functions):
                    self.data_names.add(name)
        self._find_bases()

    def _find_bases(self) -> None:
        for index, each in enumerate(self.tables.classes):
            found: list[int] = []
            for base in each.bases:
                meaning = self.meaning(self.module_functions[each.module], base)
                found += [one for one in meaning.classes if one != index]
                if not meaning.classes and base != ("object",):
                    self.external_bases[index].update(meaning.external or (".".join(base),))
            self.bases[index] = tuple(found)
            for one in found:
                self.subclasses[one].add(index)

    # -- names ---------------------------------------------------------------------------------------------------------

    def meaning(self, function: int, chain: Chain) -> Meaning:
        """Of a dotted name as the function sees it, without types: modules, definitions, imports."""
        if chain[0] == LAMBDA:
            return Meaning(functions=(int(chain[1]),))
        found = self._in_function(function, chain) or self._in_module(self.tables.functions[function].module, chain)
        if found is not None:
            return found
        top = self.module_functions[self.tables.functions[function].module]
        if chain[0] in self.tables.variables.get(top, {}):
            return Meaning(variable=(top, chain[0]))
        return Meaning(external=(".".join(chain),)) if chain[0] in _BUILTINS else Meaning()

    def _in_function(self, scope: int, chain: Chain) -> Meaning | None:
        """By its own variables and definitions, and those of the functions around it."""
        head, rest = chain[0], chain[1:]
        while scope >= 0:
            if functions := self.tables.local_functions.get(scope, {}).get(head):
                return Meaning(functions=tuple(functions)) if not rest else Meaning()
            if head in self.tables.local_classes.get(scope, {}):
                return self._in_class(self.tables.local_classes[scope][head], rest)
            row = self.tables.functions[scope]
            if not row.imported and head in self.tables.variables.get(scope, {}):
                return Meaning(variable=(scope, head))
            scope = row.outer
        return None

    def _in_module(self, module: str, chain: Chain, depth: int = 0) -> Meaning | None:
        known, head, rest = self.modules[module], chain[0], chain[1:]
        if head in known.functions:
            return Meaning(functions=known.functions[head]) if not rest else Meaning()
        if head in known.classes:
            return self._in_class(known.classes[head], rest)
        if head in known.imports:
            return _merged(self.dotted(".".join((name, *rest)), depth + 1) for name in known.imports[head])
        for star in known.imports.get("*", ()):
            source = star.removesuffix(".*")
            if source in self.modules and depth < _DEEPEST:
                found = self._in_module(source, chain, depth + 1)
                if found is not None:
                    return found
        return None

    def _in_class(self, owner: int, rest: Chain) -> Meaning:
        if not rest:
            return Meaning(classes=(owner,))
        inner = f"{self.tables.classes[owner].name}.{rest[0]}"
        classes = self.modules[self.tables.classes[owner].module].classes
        if inner in classes:
            return self._in_class(classes[inner], rest[1:])
        return Meaning(functions=self.method(owner, rest[0])) if len(rest) == 1 else Meaning()

    def dotted(self, name: str, depth: int = 0) -> Meaning:
        """Of an absolute dotted name."""
        parts = tuple(name.split("."))
        for cut in range(len(parts), 0, -1):
            module = ".".join(parts[:cut])
            if module not in self.modules:
                continue
            if cut == len(parts):
                return Meaning(module=module)
            if depth >= _DEEPEST:
                return Meaning()
            found = self._in_module(module, parts[cut:], depth)
            if found is not None:
                return found
            top = self.module_functions[module]
            if parts[cut] in self.tables.variables.get(top, {}) and len(parts) == cut + 1:
                return Meaning(variable=(top, parts[cut]))
            return self._lazily(module, parts[cut:], depth) or Meaning(external=(name,))
        return Meaning(external=(name,))

    def _lazily(self, module: str, chain: Chain, depth: int) -> Meaning | None:
        """By the `__getattr__` of a module."""
        for target in self.modules[module].lazy.get(chain[0], ()):
            found = self.dotted(".".join((target, *chain[1:])), depth + 1)
            if found.functions or found.classes or found.variable or found.module:
                return found
        return None

    def alias(self, variable: tuple[int, str]) -> Meaning:
        """What a variable stands for that is another name for something, if it is nothing else besides."""
        sources = self.aliases.get(variable, [])
        if len(sources) != len(self.tables.variables[variable[0]][variable[1]]):
            return Meaning()
        found = _merged(self.meaning(variable[0], source) for source in sources)
        return Meaning() if found.variable is not None else found

    # -- classes -------------------------------------------------------------------------------------------------------

    def ancestors(self, owner: int) -> list[int]:
        """The class itself, then its bases, nearest first."""
        found = dict.fromkeys([owner])
        waiting = [owner]
        while waiting:
            for base in self.bases.get(waiting.pop(0), ()):
                if base not in found:
                    found[base] = None
                    waiting.append(base)
        return list(found)

    def descendants(self, owner: int) -> set[int]:
        found = {owner}
        waiting = [owner]
        while waiting:
            new = self.subclasses.get(waiting.pop(), set()) - found
            found |= new
            waiting.extend(new)
        return found

    def family(self, owner: int) -> set[int]:
        return self.descendants(owner).union(self.ancestors(owner))

    def method(self, owner: int, name: str) -> tuple[int, ...]:
        """What an object of the class runs, without subclasses."""
        key = (owner, name)
        if key not in self._methods:
            lines = (self.tables.classes[one].methods for one in self.ancestors(owner))
            self._methods[key] = next((methods[name] for methods in lines if name in methods), ())
        return self._methods[key]

    def has_attribute(self, owner: int, name: str) -> bool:
        return any(name in self.tables.classes[one].attributes for one in self.ancestors(owner))

    def is_a(self, owner: int, external: set[str]) -> bool:
        """Whether one of its bases has one of the (undotted) names."""
        return any(
            base.rpartition(".")[2] in external for one in self.ancestors(owner) for base in self.external_bases[one]
        )

    # -- types ---------------------------------------------------------------------------------------------------------

    def types(self, function: int, chain: Chain, depth: int = 0) -> Types:
        key = (function, chain)
        if key not in self._types:
            self._types[key] = NO_TYPE  # what is asked for while it is being answered is unknown
            self._types[key] = self._find_types(function, chain, depth)
        return self._types[key]

    def _find_types(self, function: int, chain: Chain, depth: int) -> Types:
        if depth > _DEEPEST or not chain[0] or chain[0] == LAMBDA:
            return NO_TYPE
        if chain[0] == RESULT:
            types = self.result(self.tables.events[int(chain[1])], depth + 1)
            return self._attributes(types, chain[2:], depth)
        owner = self_class(self.tables.functions, function, chain[0])
        if owner >= 0:
            return self._attributes(Types((owner,), (), complete=True), chain[1:], depth)
        head = self.meaning(function, chain[:1])
        if head.variable is None:
            whole = self.meaning(function, chain)
            if whole.variable is not None:
                return self._made(whole.variable, depth)
            return Types(whole.classes, (), complete=True) if whole.classes else NO_TYPE
        return self._attributes(self._made(head.variable, depth), chain[1:], depth)

    def _made(self, variable: tuple[int, str], depth: int) -> Types:
        scope, name = variable
        return _united(self._made_from(scope, made, depth) for made in self.tables.variables[scope][name])

    def _made_from(self, scope: int, made: Chain, depth: int) -> Types:
        """The type of what a constructor makes, or of what a function with an annotation returns."""
        if made == UNKNOWN or depth > _DEEPEST:
            return NO_TYPE
        meaning = self.meaning(scope, made)
        if meaning.classes:
            return Types(meaning.classes, (), complete=True)
        if meaning.external:
            return Types((), meaning.external, complete=True)
        functions = meaning.functions
        if not functions and len(made) > 1:
            functions = tuple(
                one for owner in self.types(scope, made[:-1], depth + 1).classes for one in self.method(owner, made[-1])
            )
        return _united(self._returned(one, depth) for one in functions) if functions else NO_TYPE

    def _returned(self, function: int, depth: int) -> Types:
        row = self.tables.functions[function]
        return self._made_from(function, row.returns, depth + 1) if not row.generates else NO_TYPE

    def result(self, event: CodeEvent, depth: int = 0) -> Types:
        """Of what a call gives back."""
        if event.chain == ("super",):
            owner = self.owner(event.function)
            return Types(self.bases.get(owner, ()), tuple(sorted(self.external_bases[owner])), complete=owner >= 0)
        return self._made_from(event.function, event.chain, depth) if event.chain[0] != RESULT else NO_TYPE

    def owner(self, function: int) -> int:
        while function >= 0 and self.tables.functions[function].owner < 0:
            function = self.tables.functions[function].outer
        return self.tables.functions[function].owner if function >= 0 else -1

    def _attributes(self, types: Types, names: Chain, depth: int) -> Types:
        for name in names:
            types = (
                _united(self._attribute(owner, name, depth) for owner in types.classes) if types.complete else NO_TYPE
            )
        return types

    def _attribute(self, owner: int, name: str, depth: int) -> Types:
        for one in self.ancestors(owner):
            known = self.tables.classes[one]
            if name in known.attributes:
                # Names in a class's body and in its methods are, for what constructs an attribute, its module's.
                scopes = [*known.methods.get("__init__", ()), self.module_functions[known.module]]
                return _united(self._made_from(scopes[0], made, depth + 1) for made in known.attributes[name])
            if name in known.methods:
                return _united(self._returned(method, depth) for method in known.methods[name])
        return NO_TYPE


def _united(types: Iterator[Types]) -> Types:
    every = list(types)
    return Types(
        tuple(dict.fromkeys(one for each in every for one in each.classes)),
        tuple(dict.fromkeys(one for each in every for one in each.external)),
        complete=bool(every) and all(each.complete for each in every),
    )


def _merged(meanings: Iterator[Meaning]) -> Meaning:
    every = list(meanings)
    return Meaning(
        functions=tuple(dict.fromkeys(one for each in every for one in each.functions)),
        classes=tuple(dict.fromkeys(one for each in every for one in each.classes)),
        external=tuple(dict.fromkeys(one for each in every for one in each.external)),
        variable=next((each.variable for each in every if each.variable), None),
        module=next((each.module for each in every if each.module), ""),
    )


def constructors(lookup: Lookup, owner: int) -> set[int]:
    return {one for name in ("__new__", "__init__", "__post_init__") for one in lookup.method(owner, name)}


def is_property(function: Function) -> bool:
    return any("property" in chain[-1] or chain[-1] in ("setter", "getter") for chain in function.decorators)


def accepts(function: Function, event: CodeEvent, *, bound: bool) -> bool:
    """Whether a function can be called so: often tells apart what has the same name."""
    given = event.positional
    if given < 0 or "**" in event.keywords:
        return True
    taken = 1 if bound and ("staticmethod",) not in function.decorators else 0
    if given > len(function.parameters) - taken and not function.starred:
        return False
    if not function.keyworded and any(
        name not in function.parameters and name not in function.keyword_only for name in event.keywords
    ):
        return False
    return given + len(event.keywords) >= function.required - taken

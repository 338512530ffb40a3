"""What the analysis knows of a program: flat tables whose rows point at each other by their index (ANDURIL §4.1).

A row of `events` is something that can raise; `places` says under which conditions and handlers control is there,
`guards` are these conditions and handlers, `tries` what catches exceptions on their way out, `writes` who changes the
names and attributes that conditions read. `-1` stands for none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.reproduction.site import Site
from cutset.reproduce.logs.statements import Parts

Chain = tuple[str, ...]  # `self.pool.get` is ("self", "pool", "get"); what is no name is "" at its head

LAMBDA = "<lambda>"  # heads a chain whose second part is the index of a function
RESULT = "()"  # heads a chain whose second part is the index of a call
TEXT = "''"  # heads a chain whose second part is a text that may be the dotted name of a function
RETURN = "return"  # the name that `return` statements write
MODULE = "<module>"


class EventKind(StrEnum):
    CALL = "call"
    AWAIT = "await"  # of something that is no call
    RAISE = "raise"
    YIELD = "yield"  # raises what the body of the `with` raises, in a context manager
    READ = "read"  # or written: an attribute that may be a property
    ITERATE = "iterate"  # over something that may be an object of the analysed code
    WITH = "with"  # enters and leaves a context manager
    OPERATE = "operate"  # an operator, which may be a special method of the analysed code
    DECORATE = "decorate"  # hands a definition to its decorator


@dataclass(frozen=True, slots=True)
class CodeEvent:
    kind: EventKind
    function: int
    place: int
    expression: str
    line: int
    column: int
    end_line: int
    end_column: int
    ordinal: int
    chain: Chain  # what is called, awaited, raised (its type), read, iterated over, entered or operated on
    positional: int = 0  # arguments; -1 if there are starred ones
    keywords: tuple[str, ...] = ()  # "**" if there are starred ones
    passed: tuple[tuple[int | str, Chain], ...] = ()  # arguments that may be functions or tasks, by position or name
    texts: tuple[tuple[int | str, Parts], ...] = ()  # arguments that are sentences, by position or name
    assigned: tuple[str, ...] = ()  # names that take the result
    constructs: bool = False  # RAISE: of `X(…)`, not of a variable
    awaited: bool = False
    alone: bool = False  # a statement of its own: what it does is all that it is for
    body: int = -1  # WITH: the try that stands for its body
    through: tuple[Chain, ...] = ()  # CALL: what holds the functions, where no name is called: `TABLE[key](…)`


@dataclass(frozen=True, slots=True)
class Place:
    """A point of control inside a function: all of a straight stretch of code shares one."""

    function: int
    guard: int  # the innermost condition or handler around it; -1: the function's own start
    passed: tuple[int, ...]  # conditions that it had to get past: `if x: return` above it, a loop that ended
    caught_by: int  # the innermost try around it
    handler: int  # the innermost handler around it, whatever conditions are in between


class GuardKind(StrEnum):
    CONDITION = "condition"
    HANDLER = "handler"
    FINALLY = "finally"  # reached by every exception, and catches none


@dataclass(frozen=True, slots=True)
class Guard:
    kind: GuardKind
    place: int  # where it is evaluated
    line: int
    text: str
    reads: tuple[Chain, ...] = ()
    values: tuple[int, ...] = ()  # events of the condition: what they return decides
    types: tuple[str, ...] = ()  # that a handler catches, resolved
    binds: str = ""  # `except E as binds`
    attempt: int = -1  # the try of a handler
    repeats: bool = False  # the condition of a loop


@dataclass(frozen=True, slots=True)
class Try:
    place: int
    outer: int
    handlers: tuple[int, ...]  # guards, in order
    suppressed: tuple[str, ...] = ()  # types that a `with suppress(…)` catches, resolved


@dataclass(frozen=True, slots=True)
class Write:
    place: int
    name: str  # the last part of the target; RETURN for what a function gives back
    target: Chain
    scope: int  # the function whose variable it is, if it is one
    line: int
    text: str
    reads: tuple[Chain, ...] = ()
    values: tuple[int, ...] = ()
    source: Chain = ()  # the value, if it is a name or attribute: another name for the same thing
    parts: Parts = ()  # the value, if it is a text
    adds: bool = False  # `+=`: what was there before is still part of it


@dataclass(frozen=True, slots=True)
class Function:
    module: str
    name: str  # qualified, without `<locals>`
    site_name: str  # that sites in it are named by: a lambda's sites are its function's
    line: int
    end_line: int
    owner: int  # the class whose method it is
    outer: int  # the function around it
    parameters: tuple[str, ...]
    required: int  # positional parameters without a default
    starred: str  # the name of *args; "": it takes no others
    keyworded: str  # of **kwargs
    keyword_only: tuple[str, ...]
    defaults: tuple[tuple[str, Chain], ...]  # of parameters, where they may be functions
    decorators: tuple[Chain, ...]
    returns: Chain  # its annotation
    asynchronous: bool
    generates: bool
    imported: bool  # runs while its module is imported


@dataclass(frozen=True, slots=True)
class Class:
    module: str
    name: str
    bases: tuple[Chain, ...]
    methods: Mapping[str, tuple[int, ...]]
    attributes: Mapping[str, tuple[Chain, ...]]  # what they are made from: annotations and constructors; ("",) unknown


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    path: str
    injectable: bool  # False: it drives the system, so that it is read but gets no faults
    imports: Mapping[str, tuple[str, ...]]  # local name to dotted names
    functions: Mapping[str, tuple[int, ...]]  # of the module's top level
    classes: Mapping[str, int]  # by qualified name
    constants: Mapping[str, tuple[Chain, ...]]  # names for tuples of names
    lazy: Mapping[str, tuple[str, ...]]  # names that its `__getattr__` may know, to dotted names
    lines: int


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PythonProgram:
    modules: Mapping[str, Module]
    functions: tuple[Function, ...]
    classes: tuple[Class, ...]
    places: tuple[Place, ...]
    guards: tuple[Guard, ...]
    tries: tuple[Try, ...]
    events: tuple[CodeEvent, ...]
    writes: tuple[Write, ...]
    skipped: tuple[Skipped, ...]
    callees: tuple[tuple[int, ...], ...]  # per event: functions that it runs, and whose exceptions come out of it
    guesses: tuple[tuple[int, ...], ...]  # those of them that only have the right name
    starts: tuple[tuple[int, ...], ...]  # functions that it lets run, in another thread or task or later
    joins: tuple[tuple[int, ...], ...]  # functions that ran elsewhere and whose exceptions come out here
    leaves: tuple[bool, ...]  # whether it may run code that is not analysed and can fail by more than mistake
    resolved: tuple[str, ...]  # the dotted name of what is called or raised, where imports tell; else ""
    sites: tuple[Site, ...]
    site_events: tuple[int, ...]  # the event of each site
    families: tuple[frozenset[int], ...]  # per class: its bases and its subclasses, near and far, and itself
    ancestry: Mapping[str, tuple[str, ...]]  # dotted names of all bases of every class, near and far

    @property
    def lines(self) -> int:
        return sum(module.lines for module in self.modules.values())


def self_class(functions: Sequence[Function], function: int, name: str) -> int:
    """The class of `self`, also in functions inside a method; -1 if the name is something else."""
    while function >= 0:
        row = functions[function]
        if row.owner >= 0 and row.parameters[:1] == (name,) and ("staticmethod",) not in row.decorators:
            return row.owner
        if name in row.parameters:
            return -1
        function = row.outer
    return -1

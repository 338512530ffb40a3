"""Small programs of the JVM as the extractor's tables, written as statements: no compiler is needed.

A method is a list of statements; what the extractor finds out about blocks, conditions and tries follows from how they
are nested. Instructions are numbered in order, one per statement, and so are lines, from 1 in each method's hundred.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.graph.distances import path, reaches
from cutset.reproduce.jvm.causal import causal_graph
from cutset.reproduce.jvm.tables import ABSTRACT, JvmProgram, read_tables
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.logs.statements import LogStatement

VIRTUAL, SPECIAL, STATIC, INTERFACE, DYNAMIC = 182, 183, 184, 185, 186
EXCEPTIONS = {
    "java.lang.Throwable": "java.lang.Object",
    "java.lang.Exception": "java.lang.Throwable",
    "java.lang.Error": "java.lang.Throwable",
    "java.lang.RuntimeException": "java.lang.Exception",
    "java.lang.IllegalStateException": "java.lang.RuntimeException",
    "java.lang.InterruptedException": "java.lang.Exception",
    "java.io.IOException": "java.lang.Exception",
    "java.io.FileNotFoundException": "java.io.IOException",
    "java.net.SocketException": "java.io.IOException",
    "java.util.concurrent.ExecutionException": "java.lang.Exception",
    "java.util.concurrent.CompletionException": "java.lang.RuntimeException",
}
IO = "java.io.IOException"


@dataclass(frozen=True)
class Invoke:
    """Of `Owner.name`; `throws` is what an outside callee declares. A site, if nobody of the program is the owner."""

    callee: str
    throws: Sequence[str] = ()
    opcode: int = VIRTUAL
    descriptor: str = "()V"
    handed: Sequence[tuple[int, int, str]] = ()  # argument, kind, what
    site: bool = True
    label: str = ""  # by which conditions and writes name it
    beside: bool = False  # on the line of what is before it


@dataclass(frozen=True)
class Log:
    text: str
    level: str = "error"
    logger: str = ""


@dataclass(frozen=True)
class Throw:
    type: str


@dataclass(frozen=True)
class Rethrow:
    """Of what the innermost handler around caught."""


@dataclass(frozen=True)
class Attempt:
    body: Sequence[object]
    handlers: Sequence[tuple[str, Sequence[object]]]  # "": anything


@dataclass(frozen=True)
class If:
    body: Sequence[object]
    fields: Sequence[str] = ()
    calls: Sequence[str] = ()  # labels
    parameters: Sequence[int] = ()
    negated: bool = False  # to whoever runs it


@dataclass(frozen=True)
class Put:
    field: str
    calls: Sequence[str] = ()
    fields: Sequence[str] = ()


@dataclass(frozen=True)
class Make:
    type: str


@dataclass(frozen=True)
class Return:
    calls: Sequence[str] = ()
    fields: Sequence[str] = ()
    constant: object = None


@dataclass(frozen=True)
class Declared:
    """A method."""

    body: Sequence[object]
    descriptor: str = "()V"
    access: int = 1
    throws: Sequence[str] = ()


@dataclass(frozen=True)
class Type:
    methods: dict[str, Declared | Sequence[object]]
    parent: str = "java.lang.Object"
    interfaces: Sequence[str] = ()
    kind: int = 2


@dataclass
class _Strings:
    all: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def __call__(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.all)
            self.all.append(text)
        return self.numbers[text]


def program_of(
    types: dict[str, Type], outside: dict[str, Sequence[str]] | None = None, abstract: Collection[str] = ()
) -> JvmProgram:
    """`outside`: other types, by what is above them."""
    return read_tables(tables_of(types, outside, abstract))


def tables_of(
    types: dict[str, Type], outside: dict[str, Sequence[str]] | None = None, abstract: Collection[str] = ()
) -> bytes:
    strings = _Strings()
    classes = [
        [
            strings(name),
            strings(each.parent),
            [strings(one) for one in each.interfaces],
            strings(name.replace(".", "/").partition("$")[0] + ".java"),
            1,
            each.kind,
        ]
        for name, each in types.items()
    ]
    above = {**{name: (parent,) for name, parent in EXCEPTIONS.items()}, "java.lang.Object": (), **(outside or {})}
    for name, parents in above.items():
        parent, interfaces = strings(parents[0]) if parents else -1, list(map(strings, parents[1:]))
        classes.append([strings(name), parent, interfaces, -1, 1 | ABSTRACT * (name in abstract), 0])
    sites: list[list[object]] = []
    lines = []
    for owner, (name, each) in enumerate(types.items()):
        for called, body in each.methods.items():
            declared = body if isinstance(body, Declared) else Declared(body)
            compiler = _Compiler(strings, types, sites, f"{name}.{called}", len(lines), injectable=each.kind == 2)
            lines.append(compiler.method(owner, called, declared))
    header = {
        "format": 1,
        "strings": strings.all,
        "skipped": [],
        "lines": sum(len(line["k"]) for line in lines),
        "classes": classes,
        "sites": sites,
        "constructors": {},
    }
    return "\n".join(json.dumps(line) for line in (header, *lines)).encode()


class _Compiler:
    def __init__(self, strings, types, sites, function, number, *, injectable):
        self.strings, self.types, self.sites = strings, types, sites
        self.function, self.number, self.injectable = function, number, injectable
        self.rows = {key: [] for key in "bkhgtqwary"}
        self.instruction = 0
        self.labels: dict[str, int] = {}
        self.ordinals: dict[str, int] = {}
        self.open: list[int] = []  # blocks from which control gets to the next one

    def method(self, owner: int, name: str, declared: Declared) -> dict:
        first = self.number * 100 + 1
        if not declared.access & 0x400:
            self.block()
            self.statements(declared.body)
            self.rows["r"].append([len(self.rows["b"]) - 1, self.line, [], [], None])
            self.dominate()
        return {
            "c": owner,
            "n": self.strings(name),
            "d": self.strings(declared.descriptor),
            "f": declared.access,
            "l": [first, self.line],
            "x": list(map(self.strings, declared.throws)),
            **self.rows,
        }

    @property
    def line(self) -> int:
        return self.number * 100 + 1 + self.instruction

    def block(self) -> int:
        number = len(self.rows["b"])
        self.rows["b"].append([self.line, [], [], []])
        for each in self.open:
            self.rows["b"][each][3].append(number)
        self.open = [number]
        return number

    def dominate(self) -> None:
        """Which conditions decide about each block, and which handlers alone lead to it."""
        blocks = self.rows["b"]
        handlers = {row[2] for row in self.rows["y"]}
        plain = self.reached(0)
        for number, block in enumerate(blocks):
            block[1] = [
                condition
                for condition, row in enumerate(blocks)
                if len(row[3]) > 1
                and any(self.always(one, number) for one in row[3])
                and (condition == number or not self.always(condition, number))
            ]
            block[2] = [] if number in plain else [one for one in sorted(handlers) if number in self.reached(one)]

    def reached(self, start: int, without: int = -1) -> set[int]:
        found = {start} - {without}
        waiting = list(found)
        for each in waiting:  # grows
            new = set(self.rows["b"][each][3]) - found - {without}
            found |= new
            waiting.extend(new)
        return found

    def always(self, start: int, block: int) -> bool:
        """Whether all ways from one block to the end lead through another."""
        return all(self.rows["b"][each][3] for each in self.reached(start, without=block))

    def statements(self, body, handler=-1) -> None:
        for each in body:
            if not self.open:
                return  # nothing gets there
            self.statement(each, handler)

    def statement(self, each, handler) -> None:  # noqa: C901 - one case per kind
        here = [self.instruction, len(self.rows["b"]) - 1, self.line]
        if not isinstance(each, Attempt):
            self.instruction += 1
        match each:
            case Invoke():
                self.invoke(each, [*here[:2], here[2] - each.beside])
            case Log():
                logger = self.strings(each.logger) if each.logger else -1
                self.rows["g"].append([*here, self.strings(each.level), self.strings(each.text), 0, logger])
            case Throw():
                site = self.site(f"throw {each.type.rpartition('.')[2]}", here, each) if self.injectable else -1
                self.rows["t"].append([*here, [self.strings(each.type)], [], site])
                self.open = []
            case Rethrow():
                self.rows["t"].append([*here, [], [handler], -1])
                self.open = []
            case Put():
                calls, fields = self.named(each.calls), list(map(self.strings, each.fields))
                self.rows["w"].append([*here, self.strings(each.field), calls, fields])
            case Make():
                self.rows["a"].append([*here[:2], self.strings(each.type)])
            case Return():
                calls, fields = self.named(each.calls), list(map(self.strings, each.fields))
                self.rows["r"].append([*here[1:], calls, fields, each.constant])
                self.open = []
            case If():
                calls, fields = self.named(each.calls), list(map(self.strings, each.fields))
                self.rows["q"].append([*here[1:], fields, calls, [], list(each.parameters)])
                self.block()
                self.statements(each.body, handler)
                self.open = [*self.open, here[1]]
                self.block()
            case Attempt():
                self.attempt(each, handler)

    def attempt(self, each, outer) -> None:
        start = self.instruction
        self.block()
        self.statements(each.body, outer)
        end, after = self.instruction, self.open
        tries = []
        for kind, body in each.handlers:
            self.open = []
            handler = self.block()
            tries.append([start, end, handler, self.strings(kind) if kind else -1])
            self.statements(body, handler)
            after = [*after, *self.open]
        # Those of tries in its body come first, those of tries in its handlers are apart from it.
        self.rows["y"] += tries
        self.open = after
        if after:
            self.block()

    def named(self, labels) -> list[int]:
        return [self.labels[label] for label in labels]

    def invoke(self, each, here) -> None:
        owner, _, name = each.callee.rpartition(".")
        site = -1
        if owner not in self.types and each.site and self.injectable:
            site = self.site(f"{owner.rpartition('.')[2]}.{name}", here, each)
        self.labels[each.label or name] = here[0]
        called = [self.strings(owner), self.strings(name), self.strings(each.descriptor)]
        self.rows["k"].append([*here, each.opcode, *called, site, list(map(self.strings, each.throws)), 0])
        for argument, kind, what in each.handed:
            self.rows["h"].append([here[0], argument, kind, self.strings(what)])

    def site(self, expression, here, each) -> int:
        ordinal = self.ordinals.get(expression, 0)
        self.ordinals[expression] = ordinal + 1
        thrown = isinstance(each, Throw)
        owner, _, name = (f"{each.type}.<init>" if thrown else each.callee).rpartition(".")
        callee = [self.strings(text) for text in (owner, name, "()V" if thrown else each.descriptor)]
        function = self.strings(self.function.rpartition(".")[2])
        declared = [] if thrown else [self.strings(one) for one in each.throws]
        what = [int(thrown), [here[0]], *callee, declared]
        self.sites.append([self.number, function, self.strings(expression), ordinal, here[2], *what])
        return len(self.sites) - 1


# -- what comes of them ------------------------------------------------------------------------------------------------


def sightings_in(program: JvmProgram, *, missing: bool = False) -> list[Sighting]:
    """Of every log statement, by its text."""
    return [
        Sighting(row.template, LogStatement(row.key, number, row.level, "", re.compile(""), (), False), missing=missing)
        for number, row in enumerate(program.statements)
    ]


def distances_in(program: JvmProgram, *, missing: bool = False) -> dict[str, dict[str, int]]:
    """By site: how far it is from each message."""
    found = reaches(causal_graph(program, sightings_in(program, missing=missing)))
    return {
        f"{site.module}.{site.function}: {site.expression}": {
            text: reach.steps for text, reach in found[number].items()
        }
        for number, site in enumerate(program.sites)
        if number in found
    }


def wanted_in(program: JvmProgram, site: str, message: str) -> tuple[str, ...]:
    """The types that lead from a site, by its expression, to a message; short."""
    found = reaches(causal_graph(program, sightings_in(program)))
    number = [each.expression for each in program.sites].index(site)
    return tuple(sorted(kind.rpartition(".")[2] for kind in found[number][message].wanted))


def chain_in(program: JvmProgram, site: str, message: str) -> list[tuple[CausalKind, str]]:
    number = [each.expression for each in program.sites].index(site)
    return [(step.kind, step.text) for step in path(causal_graph(program, sightings_in(program)), number, message)]

"""The tables that the extractor makes of class files, as a program: JSON lines, the first for all, then one per method.

Numbers stand for strings of one list. A method's line stays bytes until somebody looks: of a large system, most never
do, and all of them decoded would be ten times as large.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from cutset.errors import CutsetError
from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.jvm.table_rows import JvmClass, JvmMethod, LoggingCall, SiteRow

FORMAT = 1
FILLED_IN = "\x01"  # in templates of messages: what is not known before the program runs
ABSTRACT, SYNTHETIC, STATIC, PUBLIC = 0x400, 0x1000, 0x8, 0x1  # access flags of the JVM
SPECIAL, STATICALLY, DYNAMIC = 183, 184, 186  # opcodes of calls that are not virtual
_LAMBDAS = ("lambda$", "$anonfun$")
_REMEDY = "Delete the cache of analysed programs, so that it is read again"


class JvmFunction(NamedTuple):
    """A method, without its code."""

    owner: int  # row of its class
    module: str  # its class, as in `Site`
    name: str
    signature: tuple[int, int]  # numbers of its name and descriptor
    access: int
    path: str
    line: int
    end_line: int
    context: str  # as in `Visit.within`
    has_code: bool


class JvmStatement(NamedTuple):
    """A call that logs; copies of a `finally` are one."""

    method: int
    instructions: tuple[int, ...]
    line: int
    level: str
    template: str  # with FILLED_IN
    logger: str  # "": not known
    throwable: bool
    key: str  # `Class:line`


class _Header(msgspec.Struct):
    format: int
    strings: list[str]
    classes: list[JvmClass]
    sites: list[SiteRow]
    constructors: dict[str, list[str]]
    skipped: list[tuple[str, str]]
    lines: int


@dataclass(frozen=True, eq=False)
class JvmProgram:
    strings: list[str]
    classes: list[JvmClass]
    site_rows: list[SiteRow]
    functions: list[JvmFunction]  # the methods, in order
    statements: list[JvmStatement]
    constructors: Mapping[str, tuple[str, ...]]  # by exception: "(String)", "()", …
    skipped: tuple[str, ...]
    lines: int
    _text: bytes
    _ends: list[tuple[int, int]]  # of the methods' lines
    _decoded: dict[int, JvmMethod] = field(default_factory=dict)

    def method(self, number: int) -> JvmMethod:
        known = self._decoded.get(number)
        if known is None:
            start, end = self._ends[number]
            known = self._decoded[number] = _METHODS.decode(memoryview(self._text)[start:end])
        return known

    def methods(self) -> Iterator[JvmMethod]:
        """All of them, none kept."""
        text = memoryview(self._text)
        for start, end in self._ends:
            yield _METHODS.decode(text[start:end])

    @cached_property
    def sites(self) -> list[Site]:
        return [self._site(row) for row in self.site_rows]

    def _site(self, row: SiteRow) -> Site:
        function = self.functions[row.method]
        kind = SiteKind.RAISE if row.is_raise else SiteKind.CALL
        name, expression = self.strings[row.function], self.strings[row.expression]
        return Site(function.module, name, expression, row.ordinal, kind, function.path, row.line, 0, row.line, 0)

    @cached_property
    def paths(self) -> list[str]:
        """Of sources and drivers."""
        return sorted({self.strings[row.path] for row in self.classes if row.kind and row.path >= 0})

    @property
    def files(self) -> int:
        return len(self.paths)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of classes that are known, by their binary names."""
        return {dotted(self.strings[row.name]): row.name for row in self.classes}

    def type_name(self, number: int) -> str:
        return dotted(self.strings[number])

    def drives(self, method: int) -> bool:
        """Whether it is a driver's: code that gets no faults."""
        return self.classes[self.functions[method].owner].kind == 1


def dotted(name: str) -> str:
    return name.replace("/", ".")


def simple(name: str) -> str:
    """Of a class, without its package."""
    return dotted(name).rpartition(".")[2]


def read_tables(source: Path | bytes) -> JvmProgram:
    where = "the tables of the program" if isinstance(source, bytes) else str(source)
    text = source if isinstance(source, bytes) else source.read_bytes()
    ends = list(_lines(text))
    if not ends:
        raise CutsetError(f"Nothing is in {where}", hint=_REMEDY)
    try:
        header = _HEADERS.decode(memoryview(text)[slice(*ends[0])])
        if header.format != FORMAT:
            message = f"{where} has format {header.format}, and this version of Cutset reads {FORMAT}"
            raise CutsetError(message, hint=_REMEDY)
        return _program(header, text, ends[1:])
    except (msgspec.DecodeError, IndexError) as error:
        raise CutsetError(f"Cannot read {where}: {error}", hint=_REMEDY) from error


_METHODS = msgspec.json.Decoder(JvmMethod)
_HEADERS = msgspec.json.Decoder(_Header)


def _lines(text: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        if end > start:
            yield start, end
        start = end + 1


def _program(header: _Header, text: bytes, ends: list[tuple[int, int]]) -> JvmProgram:
    strings = header.strings
    functions: list[JvmFunction] = []
    statements: list[JvmStatement] = []
    view = memoryview(text)
    for number, (start, end) in enumerate(ends):
        method = _METHODS.decode(view[start:end])
        functions.append(_function(header, method))
        if method.logs:
            statements += _statements(strings, functions[-1], number, method)
    constructors = {dotted(strings[int(kind)]): tuple(found) for kind, found in header.constructors.items()}
    skipped = tuple(f"{file}: {reason}" for file, reason in header.skipped)
    return JvmProgram(
        strings,
        header.classes,
        header.sites,
        functions,
        statements,
        constructors,
        skipped,
        header.lines,
        text,
        ends,
    )


def _function(header: _Header, method: JvmMethod) -> JvmFunction:
    owner, strings = header.classes[method.owner], header.strings
    module, name = dotted(strings[owner.name]), strings[method.name]
    path = strings[owner.path] if owner.path >= 0 else ""
    context = f"{simple(module)}.{_without_lambda(name)}"
    line, end_line = method.lines
    return JvmFunction(
        method.owner,
        module,
        name,
        (method.name, method.descriptor),
        method.access,
        path,
        line,
        end_line,
        context,
        bool(method.blocks),
    )


def _without_lambda(name: str) -> str:
    """Of `run`: javac's `lambda$run$0`, scalac's `$anonfun$run$1`."""
    if not name.startswith(_LAMBDAS):
        return name
    return f"{name[1:].partition('$')[2].partition('$')[0]}.lambda"


def _statements(strings: list[str], function: JvmFunction, number: int, method: JvmMethod) -> Iterator[JvmStatement]:
    same: dict[tuple[int, int, int], list[LoggingCall]] = {}
    for log in method.logs:
        same.setdefault((log.line, log.level, log.template), []).append(log)
    for logs in same.values():
        first = logs[0]
        yield JvmStatement(
            number,
            tuple(log.instruction for log in logs),
            first.line,
            strings[first.level],
            strings[first.template],
            strings[first.logger] if first.logger >= 0 else "",
            bool(first.throwable),
            f"{function.module}:{first.line}",
        )

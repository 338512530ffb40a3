"""Runs the small programs of `jvm_programs`: what exceptions do there, step by step, without an analysis."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.samples.jvm_programs import EXCEPTIONS, IO, Attempt, If, Invoke, Log, Put, Rethrow, Return, Throw, Type

_KINDS = [IO, "java.io.FileNotFoundException", "java.net.SocketException", "java.lang.InterruptedException"]
_UNCHECKED = ["java.lang.IllegalStateException"]
_CAUGHT = [*_KINDS, *_UNCHECKED, "java.lang.Exception", "java.lang.RuntimeException", ""]
_FIELDS = ["A.x", "A.y"]
_NEVER = "never"  # what a handler throws on that nothing gets to


def is_a(kind: str, caught: str) -> bool:
    return not caught or kind == caught or (kind in EXCEPTIONS and is_a(EXCEPTIONS[kind], caught))


def below(kind: str) -> list[str]:
    return [each for each in EXCEPTIONS if is_a(each, kind)]


class _Ended(Exception):  # noqa: N818 - nothing is wrong
    """By a `return`."""


class _Thrown(Exception):  # noqa: N818 - likewise
    def __init__(self, kind: str) -> None:
        self.kind = kind


@dataclass
class Run:
    """Of `A.m0`, with at most one fault: what a call of code outside throws."""

    types: Mapping[str, Type]
    fault: tuple[int, str] | None = None  # identity of the call, type
    logged: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    thrown: bool = False  # by a `throw`

    def start(self) -> list[str]:
        with suppress(_Thrown):
            self.method("A.m0")
        return self.logged

    def method(self, name: str) -> None:
        owner, _, called = name.rpartition(".")
        with suppress(_Ended):
            self.body(self.types[owner].methods[called], "")

    def body(self, statements: Sequence[object], caught: str) -> None:
        for each in statements:
            self.statement(each, caught)

    def statement(self, each: object, caught: str) -> None:  # noqa: C901, PLR0912 - one case per kind
        match each:
            case Invoke():
                if self.fault and self.fault[0] == id(each):
                    raise _Thrown(self.fault[1])
                if each.callee.startswith("A."):
                    self.method(each.callee)
            case Log():
                self.logged.append(each.text)
            case Throw():
                self.thrown = True
                raise _Thrown(each.type)
            case Rethrow():
                raise _Thrown(caught)
            case Put():
                self.written.add(each.field)
            case Return():
                raise _Ended
            case If():
                if (self.written >= set(each.fields)) != each.negated:
                    self.body(each.body, caught)
            case Attempt():
                try:
                    self.body(each.body, caught)
                except _Thrown as thrown:
                    for kind, handler in each.handlers:
                        if is_a(thrown.kind, kind):
                            self.body(handler, thrown.kind)
                            return
                    raise


def leaving(types: Mapping[str, Type], name: str) -> set[str]:
    """The exceptions that can leave a method, if each condition may hold and each call may end well or badly."""
    owner, _, called = name.rpartition(".")
    return {out for out in _outcomes(types, types[owner].methods[called], "") if out not in ("", "return", _NEVER)}


def _outcomes(types: Mapping[str, Type], statements: Sequence[object], caught: str) -> set[str]:
    """ "" if they come to their end."""
    found: set[str] = set()
    for each in statements:
        outcomes = set(_of_statement(types, each, caught))
        found |= outcomes - {""}
        if "" not in outcomes:
            return found
    return found | {""}


def _of_statement(types: Mapping[str, Type], each: object, caught: str) -> Iterator[str]:  # noqa: C901 - one case per kind
    match each:
        case Invoke():
            yield ""
            if each.callee.startswith("A."):
                yield from leaving(types, each.callee)
            else:
                kinds = (*each.throws, "java.lang.RuntimeException", "java.lang.Error")
                yield from (concrete for kind in kinds for concrete in below(kind))
        case Throw():
            yield from below(each.type)
        case Rethrow():
            yield caught
        case Return():
            yield "return"
        case If():
            yield ""
            yield from _outcomes(types, each.body, caught)
        case Attempt():
            unused = dict.fromkeys(range(len(each.handlers)))
            for out in _outcomes(types, each.body, caught):
                fitting = [index for index, (kind, _) in enumerate(each.handlers) if is_a(out, kind)]
                if out not in EXCEPTIONS or not fitting:
                    yield out
                    continue
                unused.pop(fitting[0], None)
                yield from _outcomes(types, each.handlers[fitting[0]][1], out)
            for index in unused:  # the analysis does not ask whether anything gets there
                yield from _outcomes(types, each.handlers[index][1], _NEVER)
        case _:
            yield ""


# -- programs ----------------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn, methods: int = 3) -> dict[str, Type]:
    """A class whose methods call later ones, from `m0` on; every call and message is told from the others."""
    count = iter(range(10_000))
    return {
        "A": Type(
            {f"m{number}": draw(_bodies(number, methods, count, depth=2, caught=False)) for number in range(methods)}
        )
    }


@st.composite
def _bodies(draw, method, methods, count, *, depth, caught):
    return [
        draw(_statements(method, methods, count, depth=depth, caught=caught)) for _ in range(draw(st.integers(1, 3)))
    ]


@st.composite
def _statements(draw, method, methods, count, *, depth, caught):  # noqa: PLR0911 - one case per kind
    kinds = ["call", "call", "log", "put", "throw", "return"]
    kinds += ["own"] * (method + 1 < methods) + ["try", "try", "if"] * (depth > 0) + ["rethrow"] * caught
    match draw(st.sampled_from(kinds)):
        case "call":
            declared = draw(st.lists(st.sampled_from(_KINDS), max_size=2, unique=True))
            return Invoke(f"net.Socket.c{next(count)}", declared)
        case "own":
            return Invoke(f"A.m{draw(st.integers(method + 1, methods - 1))}", opcode=184)
        case "log":
            return Log(f"message {next(count)}")
        case "put":
            return Put(draw(st.sampled_from(_FIELDS)))
        case "throw":
            return If([Throw(draw(st.sampled_from([*_KINDS, *_UNCHECKED])))], **draw(_tested()))
        case "return":
            return If([Return()], **draw(_tested()))
        case "rethrow":
            return Rethrow()
        case "if":
            return If(draw(_bodies(method, methods, count, depth=depth - 1, caught=False)), **draw(_tested()))
    caught_types = draw(st.lists(st.sampled_from(_CAUGHT), min_size=1, max_size=2, unique=True))
    handlers = [(kind, draw(_bodies(method, methods, count, depth=depth - 1, caught=True))) for kind in caught_types]
    return Attempt(draw(_bodies(method, methods, count, depth=depth - 1, caught=False)), handlers)


def _tested() -> st.SearchStrategy[dict]:
    """A field, and whether it must be written, or must not."""
    return st.fixed_dictionaries({"fields": st.tuples(st.sampled_from(_FIELDS)), "negated": st.booleans()})

"""Expressions that make an exception of a class such that `str` of it is a text of the failure log.

A message is seldom the only argument of a constructor: `[Errno 28] …` was two, `(sqlite3.OperationalError) …` names
what was wrapped, `pool: Read timed out.` was composed by a format string that the class's source has. So there are
several ways to make one, likely ones first. What `str` says of each is found out by trying them in the workload's
interpreter (`exception_trial`); the first that says the text is taken, else the first that can be made.
"""

import ast
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from cutset.reproduce.python.exception_table import ExceptionFault, table, words_of
from cutset.reproduce.python.exception_tree import BUILTIN, MESSAGE, ExceptionClass
from cutset.reproduce.python.library_source import LibrarySource

MESSAGE_LENGTH = 300  # characters of a log's message that are kept
_DEEPEST = 3  # exceptions inside of exceptions
_ERRNO = re.compile(r"\[Errno (-?\d+)\] (.*?)(?:: ('[^']*'|\d+)(?: -> ('[^']*'))?)?")
# Classes that are caught, but raised as others that answer `error.code()`.
_INSTEAD = {
    "grpc.RpcError": "grpc._channel._InactiveRpcError(grpc._channel._RPCState((), None, None, "
    "grpc.StatusCode.UNAVAILABLE, {message}))"
}
_WRAPPED = re.compile(r"\((?:builtins\.)?([A-Za-z_][\w.]*)\) (.*)")


@dataclass(frozen=True, slots=True)
class Library:
    """The exception classes of packages that a program calls, and how they are made."""

    packages: Mapping[str, tuple[ExceptionClass, ...]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)  # by `str` of expressions that were tried and can be made
    by_name: Mapping[str, ExceptionClass] = field(default_factory=dict)  # by all names
    sources: Mapping[str, LibrarySource] = field(default_factory=dict)  # by package
    made: dict[tuple[str, str], str] = field(default_factory=dict)  # so far, by class and text
    telling: dict[tuple[tuple[str, ...], frozenset[str]], tuple[ExceptionClass, ...]] = field(default_factory=dict)

    def functions(self, package: str) -> Collection[str]:
        return self.sources[package].functions if package in self.sources else ()

    def canonical(self, name: str) -> str:
        name = name.removeprefix("builtins.")
        return self.by_name[name].dotted if name in self.by_name else table().aliases.get(name, name)

    def line(self, name: str) -> set[str]:
        """The class and all that it derives from."""
        found = [name]
        for kind in found:  # grows meanwhile
            if kind in self.by_name:
                found += [base for base in map(self.canonical, self.by_name[kind].bases) if base not in found]
            elif kind in BUILTIN:
                found += [base.__name__ for base in BUILTIN[kind].__mro__[1:-1] if base.__name__ not in found]
            elif kind in table().bases:
                found.append(table().bases[kind])
        return set(found)


def library_of(
    classes: Iterable[ExceptionClass],
    sources: Mapping[str, LibrarySource] | None = None,
    said: Mapping[str, str] | None = None,
    own: Iterable[ExceptionClass] = (),
) -> Library:
    """`own` are classes of the program itself: they can be made, but come from no library."""
    classes = list(classes)
    packages: dict[str, list[ExceptionClass]] = {}
    for kind in classes:
        packages.setdefault(kind.dotted.partition(".")[0], []).append(kind)
    return Library(
        {name: tuple(kinds) for name, kinds in packages.items()},
        said or {},
        {name: kind for kind in (*own, *classes) for name in (*kind.aliases, kind.dotted)},
        sources or {},
    )


def make(name: str, message: str, library: Library) -> str:
    """An expression that makes an exception of this class whose text is the message, as far as that can be done."""
    key = library.canonical(name), shortened(message)
    if key not in library.made:
        found = list(dict.fromkeys(ways_to_make(*key, library)))
        saying = (way for way in found if key[1] and shortened(library.said.get(way, "")) == key[1])
        possible = (way for way in found if way in library.said)
        library.made[key] = next(saying, None) or next(possible, None) or found[0]
    return library.made[key]


def fault_of(name: str, message: str, when: str, library: Library) -> ExceptionFault:
    kind = library.canonical(name)
    if not message and kind in table().faults and kind not in library.by_name:
        return table().faults[kind]
    numbered = _ERRNO.fullmatch(shortened(message)) if "OSError" in library.line(kind) else None
    return ExceptionFault(kind, make(kind, message, library), when, int(numbered[1]) if numbered else None)


def shortened(text: str) -> str:
    return text.strip().partition("\n")[0][:MESSAGE_LENGTH]


def ways_to_make(kind: str, text: str, library: Library, depth: int = 0) -> Iterator[str]:
    """Likely ones first, at least one; `kind` is a class as the library calls it."""
    known = library.by_name.get(kind)
    name = known.public if known else kind
    usual = known.arguments if known else table().arguments.get(kind, MESSAGE)
    spelled = text or " ".join(words_of(kind.rpartition(".")[2]))
    nested = partial(_nested, library=library, depth=depth)
    if kind in _INSTEAD:
        yield _INSTEAD[kind].replace(MESSAGE, repr(spelled))
    if text:
        yield from (f"{name}({arguments})" for arguments in _told(kind, text, library.line(kind), nested))
        if f"Exception({MESSAGE})" in usual and (wrapped := _WRAPPED.fullmatch(text)):
            # It names the class of what it wraps by itself.
            for inner in (nested(wrapped[1], wrapped[2]), f"Exception({wrapped[2]!r})"):
                yield f"{name}({usual.replace(f'Exception({MESSAGE})', inner).replace(MESSAGE, repr(wrapped[2]))})"
        yield from (f"{name}({', '.join(each)})" for each in _by_formats(known, text, nested) if known)
    yield f"{name}({usual.replace(MESSAGE, repr(spelled))})"
    if known:  # its constructor may be misread
        yield from (f"{name}({arguments})" for arguments in (repr(spelled), "", f"None, {spelled!r}"))


def _nested(name: str, text: str, *, library: Library, depth: int) -> str:
    """An exception inside of another, by the name that the log has for it."""
    kind = library.canonical(name)
    if kind not in library.by_name and kind not in BUILTIN and kind not in table().bases and "." not in kind:
        standard = [dotted for dotted in table().bases if dotted.endswith(f".{kind}")]
        of_libraries = [one.dotted for one in library.by_name.values() if one.dotted.endswith(f".{kind}")]
        kind = min(standard or of_libraries or ["Exception"], key=len)
    return next(ways_to_make(kind, text, library, depth + 1)) if depth < _DEEPEST else f"Exception({text!r})"


# -- what is known of particular classes -------------------------------------------------------------------------------

_Nested = Callable[[str, str], str]


def _told(kind: str, text: str, line: set[str], nested: _Nested) -> Iterator[str]:
    """Arguments that a text tells by its form."""
    if kind in _FORMS:
        pattern, arguments = _FORMS[kind]
        if match := pattern.fullmatch(text):
            yield arguments(match)
    if "OSError" in line and (match := _ERRNO.fullmatch(text)):
        files = [] if match[3] is None else [match[3]] if match[4] is None else [match[3], "None", match[4]]
        yield ", ".join([match[1], repr(match[2]), *files])
    if kind == "urllib.error.URLError" and (match := re.fullmatch(r"<urlopen error (.*)>", text)):
        numbered = _ERRNO.fullmatch(match[1])
        yield nested("OSError", match[1]) if numbered else repr(match[1])
    if (tree := _expression(text)) is not None:
        match tree:
            case ast.Constant() | ast.Tuple() if kind == "KeyError" and _is_plain(tree):
                yield text  # its `str` is the `repr` of its argument
            case ast.Tuple(elts=[_, *_] as elements) if _is_plain(tree):
                yield ", ".join(_argument(element, nested) for element in elements)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _of_json(match: re.Match[str]) -> str:
    message, line, column, at = match[1], *_numbers(match[2])
    before = at - column + 1 - (line - 1)  # characters above the line that is named, but for the ends of lines
    return f"{message!r}, {' ' * before + chr(10) * (line - 1) + ' ' * (column - 1)!r}, {at}"


def _of_undecodable(match: re.Match[str]) -> str:
    first, *rest = _numbers(match[3])
    data = bytes(first) + bytes([int(match[2] or "0xff", 16)]) * (rest[0] - first + 1 if rest else 1)
    return f"{match[1]!r}, {data!r}, {first}, {len(data)}, {match[4]!r}"


def _of_unencodable(match: re.Match[str]) -> str:
    first, *rest = _numbers(match[3])
    character = ast.literal_eval(match[2]) if match[2] else "é"
    data = " " * first + character * (rest[0] - first + 1 if rest else 1)
    return f"{match[1]!r}, {data!r}, {first}, {len(data)}, {match[4]!r}"


def _of_command(match: re.Match[str]) -> str:
    command = match[1] if isinstance(_expression(match[1]), ast.List) else repr(match[1])
    signal = re.fullmatch(r"died with <Signals\.\w+: (\d+)>\.", match[2])
    return f"-{signal[1]}, {command}" if signal else f"{_numbers(match[2])[-1]}, {command}"


def _of_late_command(match: re.Match[str]) -> str:
    command = match[1] if isinstance(_expression(match[1]), ast.List) else repr(match[1])
    return f"{command}, {match[2]}"


def _of_service(match: re.Match[str]) -> str:
    answer: dict[str, object] = {"Error": {"Code": match[1], "Message": match[4]}}
    if match[3]:
        answer["ResponseMetadata"] = {"MaxAttemptsReached": True, "RetryAttempts": int(match[3])}
    return f"{answer!r}, {match[2]!r}"


_FORMS: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = {
    kind: (re.compile(pattern), arguments)
    for kind, pattern, arguments in [
        ("json.JSONDecodeError", r"(.+): (line \d+ column \d+ \(char \d+\))", _of_json),
        (
            "UnicodeDecodeError",
            r"'([\w-]+)' codec can't decode bytes? (?:(0x\w\w) )?in position (\d+(?:-\d+)?): (.*)",
            _of_undecodable,
        ),
        (
            "UnicodeEncodeError",
            r"'([\w-]+)' codec can't encode characters? (?:('.*') )?in position (\d+(?:-\d+)?): (.*)",
            _of_unencodable,
        ),
        (
            "subprocess.CalledProcessError",
            r"Command '(.*)' (returned non-zero exit status \d+\.|died with .*)",
            _of_command,
        ),
        ("subprocess.TimeoutExpired", r"Command '(.*)' timed out after ([\d.]+) seconds", _of_late_command),
        (
            "asyncio.IncompleteReadError",
            r"(\d+) bytes read on a total of (\d+|undefined) expected bytes",
            lambda match: f"{bytes(int(match[1]))!r}, {match[2].replace('undefined', 'None')}",
        ),
        (
            "http.client.IncompleteRead",
            r"IncompleteRead\((\d+) bytes read(?:, (\d+) more expected)?\)",
            lambda match: ", ".join([repr(bytes(int(match[1]))), *([match[2]] if match[2] else [])]),
        ),
        (
            "urllib.error.HTTPError",
            r"HTTP Error (\d+): (.*)",
            lambda match: f"'http://localhost/', {match[1]}, {match[2]!r}, {{}}, None",
        ),
        (
            "ExceptionGroup",
            r"(.*) \((\d+) sub-exceptions?\)",
            lambda match: f"{match[1]!r}, [{', '.join([f'Exception({match[1]!r})'] * int(match[2]))}]",
        ),
        (
            "botocore.exceptions.ClientError",
            r"An error occurred \((\w+)\) when calling the (\w+) operation(?: \(reached max retries: (\d+)\))?: (.*)",
            _of_service,
        ),
        (
            "grpc._channel._InactiveRpcError",
            r".*status = StatusCode\.(\w+)\s+details = \"(.*?)\".*",
            lambda match: f"grpc._channel._RPCState((), None, None, grpc.StatusCode.{match[1]}, {match[2]!r})",
        ),
        (
            "grpc.aio._call.AioRpcError",
            r".*status = StatusCode\.(\w+)\s+details = \"(.*?)\".*",
            lambda match: f"grpc.StatusCode.{match[1]}, grpc.aio.Metadata(), grpc.aio.Metadata(), {match[2]!r}",
        ),
    ]
}
_FORMS["BaseExceptionGroup"] = _FORMS["ExceptionGroup"]


# -- what the class's source tells -------------------------------------------------------------------------------------


def _by_formats(known: ExceptionClass | None, text: str, nested: _Nested) -> Iterator[list[str]]:
    """Arguments read out of the text by the format strings of the constructor and of its bases."""
    if known is None or not known.formats:
        return
    values: dict[str, str] = {}
    texts = [text]
    for pattern in (*known.formats, *known.formats):  # what one composes may be a part of what another does
        for one in texts[:]:
            if match := re.fullmatch(pattern, one, re.DOTALL):
                new = {name: value for name, value in match.groupdict().items() if name not in values}
                values |= new
                texts += new.values()
    shown = {name.removesuffix("__repr") for name in values}
    named = [(name, f"{name}={MESSAGE}") for name in known.optional if name in shown]
    if shown.intersection(name for name, _ in (*known.parameters, *named)):
        usual = [(name, literal) for name, literal in known.parameters if name not in known.optional]
        yield [_filled(name, literal, values, text, nested) for name, literal in (*usual, *named)]


def _filled(name: str, literal: str, values: Mapping[str, str], text: str, nested: _Nested) -> str:
    before = f"{name}=" if literal.startswith(f"{name}=") else ""
    usual = literal.removeprefix(before)
    if f"{name}__repr" in values:
        shown = values[f"{name}__repr"]
        tree = _expression(shown)
        return before + (_argument(tree, nested) if tree is not None and _is_plain(tree) else repr(shown))
    if name not in values:
        return before + usual.replace(MESSAGE, repr(text))
    value = values[name]
    if usual.lstrip("-").replace(".", "", 1).isdigit() and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return before + value
    if usual == f"Exception({MESSAGE})":
        return before + nested("Exception", value)
    return before + repr(value)


def _expression(text: str) -> ast.expr | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escape sequences
        try:
            return ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _is_plain(node: ast.expr) -> bool:
    """Whether it is what `repr` shows of plain values, or of an exception with such arguments."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(map(_is_plain, elements))
        case ast.Call(func=ast.Name() | ast.Attribute(), args=arguments, keywords=[]):
            return all(map(_is_plain, arguments))
    return False


def _argument(node: ast.expr, nested: _Nested) -> str:
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    match node.args:
        case [ast.Constant(value=int(number)), ast.Constant(value=str(text)), *_]:
            return nested(ast.unparse(node.func), f"[Errno {number}] {text}")
        case [ast.Constant(value=str(text))]:
            return nested(ast.unparse(node.func), text)
    return nested(ast.unparse(node.func), "")

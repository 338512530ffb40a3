"""What the functions of a library raise, read from its text without parsing all of it: a call's plausible exceptions.

The JVM declares what a method throws. Here, a function raises what its `raise` statements and its docstring name, and
what the functions that it calls do, a few calls deep; which function is called is told by its name alone. That finds
what a call can raise. What it hardly can is told by names as well: nothing that a constructor or `select(…).where`
calls sounds as if it left the process. Where texts of errors come from is found likewise: `raise
ConnectionError("Connection closed by server.")`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cutset.reproduce.python.exception_table import table, words_of

DEEPEST = 5  # calls: those of a client down to its socket
NEAR = 3  # calls within which one that reaches out is seen as such
ANY_OWNER = "?"
SAME_NAME = 4  # functions of one name: of more, none is followed
MOST_BEGUN = 12  # likewise, where a call begins: all of them count
NOT_SHIPPED = frozenset({"tests", "test", "testing", "__pycache__"})
SHORTEST_TEXT = 10  # characters of an error's text that are not said by chance

_DEFINED = re.compile(r"^([ \t]*)(?:(class)|(?:async[ \t]+)?def)[ \t]+(\w+)", re.MULTILINE)
_RAISED = re.compile(r"^[ \t]*raise[ \t]+([A-Za-z_][\w.]*)|:raises?[ \t]+([\w.]+):", re.MULTILINE)
_CALLED = re.compile(r"\b([A-Za-z_]\w*)[ \t]*\(")
_RAISED_TEXT = re.compile(r"""\braise[ \t]+([A-Za-z_][\w.]*)\(\s*f?(["'])((?:(?!\2)[^\\\n])*)\2\s*[,)%.]""")
_FIELD = re.compile(r"\{[^{}]*\}|%[a-z]")
_LONG_TEXT = re.compile(r"""(\"{3}|'{3}).*?\1""", re.DOTALL)
_OVERLOAD = re.compile(r"\.\.\.\s*(?:@[^\n]*\s*)*$")  # has no body; the next one's decorators may follow
# Words in the names of functions that reach out of the process: what they raise passes through whoever calls them.
_OUTSIDE_TEXT = (
    "accept acquire begin call command commit communicate connect connection cursor deliver download execute "
    "fetch fetchall fetchmany fetchone flush getaddrinfo getresponse invoke login mkdir open perform ping poll "
    "publish read readexactly readline recv rename request retry rollback run send sendall sendto socket stat "
    "submit subscribe transport unlink upload urlopen wait write"
)
_OUTSIDE = frozenset(_OUTSIDE_TEXT.split())
# Names that containers have as well, so that the library's own functions of this name are hardly meant.
_INSIDE_TEXT = (
    "__init__ add append clear copy count decode encode extend find format get index insert items join keys pop "
    "popitem remove setdefault sort split strip update values"
)
_INSIDE = frozenset(_INSIDE_TEXT.split())

_Span = tuple[str, int, int, int]  # of a function: its class, the text that it is in, from where to where


@dataclass(frozen=True, slots=True)
class RaisedText:
    """A text that a library raises: what it says, and in which of its files, by which name for the class."""

    name: str
    pattern: str  # a regular expression
    longest: str  # its longest literal part
    module: str


@dataclass(frozen=True, slots=True)
class Reached:
    """What a function of a library leads to."""

    raised: Mapping[str, str]  # last names of exceptions, each with the function whose source names it
    stays_inside: bool  # as far as names tell, nothing there reaches out of the process


@dataclass(frozen=True, slots=True)
class LibrarySource:
    texts: tuple[str, ...]
    modules: tuple[str, ...]  # of each text
    functions: Mapping[str, tuple[_Span, ...]]  # by name
    _reached: dict[str, Reached | None] = field(default_factory=dict)

    def reached(self, dotted: str) -> Reached | None:
        """What the function or class of this name leads to; None if there is none, or too many. `?.name` is a method of
        something that is not known."""
        if dotted not in self._reached:
            owner, _, name = dotted.rpartition(".")
            self._reached[dotted] = self._reach(owner.rpartition(".")[2], name)
        return self._reached[dotted]

    def raised_texts(self) -> Iterator[RaisedText]:
        for text, module in zip(self.texts, self.modules, strict=True):
            for match in _RAISED_TEXT.finditer(text):
                parts = _FIELD.split(match[3])
                longest = max(parts, key=len)
                if len(longest.strip()) >= SHORTEST_TEXT and " " in longest.strip():
                    yield RaisedText(match[1], ".*?".join(map(re.escape, parts)), longest, module)

    def imports(self, module: str, name: str) -> bool:
        """Whether a name is imported, or defined, in a module."""
        text = self.texts[self.modules.index(module)]
        return re.search(rf"\bimport\s+(?:\([^)]*|[^\n(]*)\b{name}\b|^class {name}\b", text, re.MULTILINE) is not None

    def _reach(self, owner: str, name: str) -> Reached | None:
        if not (begun := self._begun(owner, name)):
            # A class without a constructor of its own keeps data, unless it is named like a client.
            keeps = owner != ANY_OWNER and name[:1].isupper() and table().clients.isdisjoint(words_of(name))
            return Reached({}, stays_inside=True) if keeps and not _reaches_out(name) else None
        raised: dict[str, str] = {}
        stays_inside = not _reaches_out(name)
        level, seen = list(begun), set(begun)
        for depth in range(DEEPEST):
            following: list[_Span] = []
            for function in level:
                class_name, at, start, end = function
                body = self.texts[at][start:end]
                where = _DEFINED.match(body)
                shown = ".".join(filter(None, [class_name, where[3] if where else ""]))
                for match in _RAISED.finditer(body):
                    raised.setdefault((match[1] or match[2]).rpartition(".")[2], shown)
                for called in _CALLED.findall(_LONG_TEXT.sub("", body[where.end() if where else 0 :])):
                    stays_inside = stays_inside and (depth >= NEAR or not _reaches_out(called))
                    following += [one for one in self._called(class_name, called) if one not in seen]
                    seen.update(following)
            level = following
        return Reached(raised, stays_inside)

    def _begun(self, owner: str, name: str) -> tuple[_Span, ...]:
        """The method, the constructor, the function; else whatever has this name, unless that is too much."""
        named = self.functions.get(name, ())
        for found in (
            [one for one in named if one[0] == owner],
            [one for one in self.functions.get("__init__", ()) if one[0] == name],
            [one for one in named if not one[0] and owner != ANY_OWNER],
            named,
        ):
            if found:
                return tuple(found) if len(found) <= MOST_BEGUN else ()
        return ()

    def _called(self, owner: str, name: str) -> tuple[_Span, ...]:
        if name in _INSIDE:
            return ()
        if name[0].isupper():
            return tuple(one for one in self.functions.get("__init__", ()) if one[0] == name)[:SAME_NAME]
        found = self.functions.get(name, ())
        own = tuple(one for one in found if one[0] == owner)
        return own or (found if len(found) <= SAME_NAME else ())


def read_library(sources: Path) -> LibrarySource:
    """Of a package's folder or a module's file."""
    paths = sorted(sources.rglob("*.py")) if sources.is_dir() else [sources]
    texts: list[str] = []
    modules: list[str] = []
    functions: dict[str, list[_Span]] = {}
    for path in paths:
        inside = path.relative_to(sources.parent)
        if not NOT_SHIPPED.isdisjoint(inside.parts):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for owner, name, start, end in _definitions(text):
            functions.setdefault(name, []).append((owner, len(texts), start, end))
        texts.append(text)
        modules.append(".".join(part for part in inside.with_suffix("").parts if part != "__init__"))
    return LibrarySource(tuple(texts), tuple(modules), {name: tuple(found) for name, found in functions.items()})


def _definitions(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Functions with the class around them, and where they begin and end: before the next definition."""
    found = list(_DEFINED.finditer(text))
    classes: list[tuple[int, str]] = []  # around it, with their indentation
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=False):
        depth = len(match[1].expandtabs())
        while classes and classes[-1][0] >= depth:
            classes.pop()
        if match[2]:
            classes.append((depth, match[3]))
        elif not _OVERLOAD.search(text[match.start() : end]):
            yield classes[-1][1] if classes else "", match[3], match.start(), end


def _reaches_out(name: str) -> bool:
    return not _OUTSIDE.isdisjoint(words_of(name))

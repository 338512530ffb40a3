"""The program as a whole: finds the named packages without importing them, reads them, lists the fault sites (§4.1).

A site is a call that may leave the analysed code, an `await` of something that is no call, or a `raise` that does not
only pass on what a handler caught. Code that runs while a module is imported has no sites, nor have calls that fail by
a mistake of the program only (`len`, `isinstance`, `"".join`).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cutset.errors import InputError
from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.progress import Progress, nobody_watches, watched
from cutset.reproduce.python.extract import read_module
from cutset.reproduce.python.loggers import is_logging
from cutset.reproduce.python.lookup import Lookup
from cutset.reproduce.python.program_cache import load, program_key, save
from cutset.reproduce.python.resolve import Resolution, exception_name, resolve
from cutset.reproduce.python.source_text import deep_recursion, parse, read_text
from cutset.reproduce.python.special_methods import implicit_names
from cutset.reproduce.python.syntax import CodeEvent, EventKind, Module, PythonProgram, Skipped
from cutset.reproduce.python.tables import Tables

# Functions of Python's own that depend on nothing but their arguments.
_HARMLESS_TEXT = (
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict dir divmod enumerate "
    "filter float format frozenset getattr globals hasattr hash hex id int isinstance issubclass iter len list locals "
    "map max memoryview min object oct ord pow print property range repr reversed round set setattr slice sorted "
    "staticmethod str sum super tuple type vars zip time.time time.monotonic time.perf_counter os.getpid os.fspath "
    "os.path.join os.path.basename os.path.dirname os.path.splitext threading.current_thread threading.get_ident "
    "sys.exc_info threading.Lock threading.RLock threading.local asyncio.iscoroutinefunction asyncio.get_running_loop"
)
_HARMLESS = frozenset(_HARMLESS_TEXT.split())
_HARMLESS_MODULES_TEXT = (
    "abc bisect collections contextlib copy dataclasses datetime enum functools heapq inspect itertools logging math "
    "numbers operator re string textwrap traceback types typing typing_extensions warnings weakref"
)
_HARMLESS_MODULES = frozenset(_HARMLESS_MODULES_TEXT.split())
_VALUES_TEXT = (
    "Counter Dict FrozenSet List Mapping MutableMapping MutableSequence OrderedDict Pattern Sequence Set Tuple "
    "bool bytearray bytes complex defaultdict deque dict float frozenset int list set str tuple"
)
_VALUES = frozenset(_VALUES_TEXT.split())
_VALUE_MODULES = {"datetime", "decimal", "re"}
# Methods that only texts have.
_OF_TEXT_TEXT = (
    "capitalize casefold endswith format_map isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric "
    "isspace isupper ljust lower lstrip partition rjust rpartition rstrip splitlines startswith strip swapcase title "
    "upper zfill"
)
_OF_TEXT = frozenset(_OF_TEXT_TEXT.split())
_NO_FAULTS = {"NotImplementedError", "StopAsyncIteration", "StopIteration"}  # ways of speaking, not of failing
_ON_LITERALS = re.compile(r"""[bfru]{0,2}['"(\[{]""", re.IGNORECASE)

_KINDS = {EventKind.CALL: SiteKind.CALL, EventKind.AWAIT: SiteKind.AWAIT, EventKind.RAISE: SiteKind.RAISE}


@collection_paused()
def read_program(
    names: Sequence[str],
    search_path: Sequence[str],
    drivers: Sequence[str] = (),
    *,
    progress: Progress = nobody_watches,
    cache: Path | None = None,
) -> PythonProgram:
    """Of packages, modules and files, by path or by name along the search path. Drivers are read but get no faults:
    scripts that exercise the system, whose log lines count. What was read before is found in the cache, a folder."""
    skipped: list[Skipped] = []
    files = {module: (path, True) for name in names for module, path in find_files(name, search_path)}
    for name in drivers:
        for module, path in find_files(name, search_path):
            files.setdefault(module, (path, False))
    texts = {module: text for module, (path, _) in files.items() if (text := read_text(path, skipped)) is not None}
    key = (
        program_key((module, str(files[module][0]), files[module][1], text) for module, text in texts.items())
        if cache
        else ""
    )
    known = load(cache, key) if cache else None
    if known is not None:
        return known
    implicit = implicit_names(texts.values())
    tables, modules = Tables(), {}
    for module, text in watched(texts.items(), progress, "reading the source", every=1):
        path, injectable = files[module]
        tree = parse(text, path, skipped)
        if tree is not None:
            lines = text.count("\n") + 1
            with deep_recursion():
                modules[module] = read_module(
                    tree, module, str(path), lines, tables=tables, implicit=implicit, injectable=injectable
                )
    program = _program(tables, modules, skipped, progress)
    if cache:
        save(cache, key, program)
    return program


def find_files(name: str, search_path: Sequence[str]) -> list[tuple[str, Path]]:
    """Modules and their files, sorted."""
    if is_path(name):
        return _files_at(Path(name), search_path)
    places = [Path(folder or ".").joinpath(*name.split(".")) for folder in search_path]
    for found in places:
        if (found / "__init__.py").is_file():
            return list(_package(name, found.resolve()))
        if (single := found.with_name(f"{found.name}.py")).is_file():
            return [(name, single.resolve())]
    # A namespace package, of all its parts; as for Python, the first wins.
    files = dict(file for found in reversed(places) if found.is_dir() for file in _package(name, found.resolve()))
    if files:
        return sorted(files.items())
    raise InputError(
        f"No Python source of {name!r} on the search path ({len(search_path)} folders)",
        hint="Is it installed in the environment of the workload? Extension modules without source cannot be analysed.",
    )


def is_path(name: str) -> bool:
    """Else it is the name of a module."""
    return name.endswith(".py") or "/" in name or not name.strip(".")


def _files_at(path: Path, search_path: Sequence[str]) -> list[tuple[str, Path]]:
    if path.is_file():
        return [(_module_name(path), path.resolve())]
    if (path / "__init__.py").is_file():
        return list(_package(_module_name(path / "__init__.py"), path.resolve()))
    if path.is_dir():
        folders = {Path(folder).resolve() for folder in search_path}
        return sorted(
            (_imported_name(file, folders) or name, file)
            for name, file in _package(path.resolve().name, path.resolve())
        )
    raise InputError(
        f"There is no source at {path}", hint="Name a package's folder, a .py file, or an importable name."
    )


def _imported_name(path: Path, search_path: Collection[Path]) -> str:
    """As an import along the search path finds the file; "" if none does."""
    folder = next((folder for folder in path.parents if folder in search_path), None)
    if folder is None:
        return ""
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__") if all(map(str.isidentifier, parts)) else ""


def _package(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if all(part.isidentifier() for part in parts):
            yield ".".join((name, *(part for part in parts if part != "__init__"))), path


def _module_name(path: Path) -> str:
    """By the folders above that are packages."""
    path = path.resolve()
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.parent.name


def _program(tables: Tables, modules: dict[str, Module], skipped: list[Skipped], progress: Progress) -> PythonProgram:
    lookup = Lookup(tables, modules)
    found = resolve(tables, lookup, progress)
    for index, event in enumerate(tables.events):
        harmless = _harmless(event, found.resolved[index], found.receivers[index])
        found.leaves[index] = found.leaves[index] and not harmless
    events = _sites(tables, modules, found)
    return PythonProgram(
        modules=modules,
        functions=tuple(tables.functions),
        classes=tuple(tables.classes),
        places=tuple(tables.places),
        guards=tuple(
            replace(guard, types=_types(tables, lookup, guard.place, guard.types)) if guard.types else guard
            for guard in tables.guards
        ),
        tries=tuple(
            replace(one, suppressed=_types(tables, lookup, one.place, one.suppressed)) if one.suppressed else one
            for one in tables.tries
        ),
        events=tuple(tables.events),
        writes=tuple(tables.writes),
        skipped=tuple(skipped),
        callees=_sorted(found.callees),
        guesses=_sorted(found.guesses),
        starts=_sorted(found.starts),
        joins=_sorted(found.joins),
        leaves=tuple(found.leaves),
        resolved=tuple(found.resolved),
        sites=tuple(_site(tables, modules, index) for index in events),
        site_events=tuple(events),
        families=tuple(
            frozenset(lookup.ancestors(index)) | lookup.descendants(index) for index in range(len(tables.classes))
        ),
        ancestry=_ancestry(tables, lookup),
    )


def _sorted(sets: Sequence[set[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(one)) for one in sets)


def _types(tables: Tables, lookup: Lookup, place: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """Of a handler, resolved; a name for a tuple of exceptions is all of them; "" is one that is not known."""
    function = tables.places[place].function
    found: dict[str, None] = {}
    for name in names:
        scope, members = _members(tables, lookup, function, name)
        found.update(dict.fromkeys(exception_name(lookup, scope, member) for member in members))
    return tuple(found)


def _members(tables: Tables, lookup: Lookup, function: int, name: str) -> tuple[int, list[str]]:
    """The names in a constant tuple, and where they are to be understood; else the name itself."""
    variable = lookup.meaning(function, tuple(name.split("."))).variable
    scope, last = variable if variable is not None else (function, name.rpartition(".")[2])
    module = tables.functions[scope].module
    constants = lookup.modules[module].constants
    if last in constants and (variable is not None or name.startswith(("self.", "cls."))):
        return lookup.module_functions[module], [".".join(chain) for chain in constants[last]]
    return function, [name]


def _ancestry(tables: Tables, lookup: Lookup) -> dict[str, tuple[str, ...]]:
    """Dotted names of all bases, near and far, of every class."""
    found = {}
    for index, each in enumerate(tables.classes):
        line = lookup.ancestors(index)
        names = [f"{tables.classes[one].module}.{tables.classes[one].name}" for one in line[1:]]
        names += [base for one in line for base in sorted(lookup.external_bases[one])]
        found[f"{each.module}.{each.name}"] = tuple(names)
    return found


# -- sites -------------------------------------------------------------------------------------------------------------


def _sites(tables: Tables, modules: dict[str, Module], found: Resolution) -> list[int]:
    sites = []
    for index, event in enumerate(tables.events):
        function = tables.functions[event.function]
        if function.imported or not modules[function.module].injectable or event.kind not in _KINDS:
            continue
        if event.kind == EventKind.RAISE:
            new = tables.places[event.place].handler < 0 and (event.constructs or found.resolved[index])
            if new and found.resolved[index] not in _NO_FAULTS:
                sites.append(index)
        elif found.leaves[index]:
            sites.append(index)
    return sites


def _harmless(event: CodeEvent, name: str, receiver: str) -> bool:
    """Whether the call depends on nothing but its arguments."""
    if event.kind != EventKind.CALL:
        return False
    if not receiver and (name in _HARMLESS or name.partition(".")[0] in _HARMLESS_MODULES):
        return True
    if receiver.rpartition(".")[2] in _VALUES or receiver.partition(".")[0] in _VALUE_MODULES:
        return True
    if event.chain[-1] in _OF_TEXT or is_logging(event):
        return True
    return not event.chain[0] and _ON_LITERALS.match(event.expression) is not None


def _site(tables: Tables, modules: dict[str, Module], index: int) -> Site:
    event = tables.events[index]
    function = tables.functions[event.function]
    return Site(
        module=function.module,
        function=function.site_name,
        expression=event.expression,
        ordinal=event.ordinal,
        kind=_KINDS[event.kind],
        path=modules[function.module].path,
        line=event.line,
        column=event.column,
        end_line=event.end_line,
        end_column=event.end_column,
    )

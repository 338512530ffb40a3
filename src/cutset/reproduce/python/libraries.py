"""The libraries that a program calls: their exceptions, the text of their functions, and how exceptions are made."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from sys import stdlib_module_names

from cutset.process.supervise import inherited_environment
from cutset.reproduce.python.exception_making import Library, library_of, ways_to_make
from cutset.reproduce.python.exception_table import table
from cutset.reproduce.python.exception_tree import ExceptionClass, exception_tree
from cutset.reproduce.python.exception_trial import texts_of
from cutset.reproduce.python.exceptions import usual_message
from cutset.reproduce.python.library_source import read_library
from cutset.reproduce.python.syntax import PythonProgram


def imported_modules(program: PythonProgram) -> dict[str, tuple[str, ...]]:
    """By module of the program."""
    return {
        name: tuple(sorted({dotted for names in module.imports.values() for dotted in names}))
        for name, module in program.modules.items()
    }


def read_libraries(program: PythonProgram, search_path: Sequence[str]) -> Library:
    """The packages that the analysed code imports and that are not analysed themselves.

    Of the standard library there is a table: most of its classes are for particular calls.
    """
    analysed = {name.partition(".")[0] for name in program.modules}
    imported = {dotted.partition(".")[0] for names in imported_modules(program).values() for dotted in names}
    folders = {
        package: found
        for package in sorted(imported - analysed - stdlib_module_names)
        if (found := next((path for path in _places(package, search_path) if path.exists()), None))
    }
    return library_of(
        (kind for folder in folders.values() for kind in exception_tree(folder)),
        {package: read_library(folder) for package, folder in folders.items()},
        own=[kind for folder in sorted(_analysed_folders(program)) for kind in exception_tree(folder)],
    )


def _places(package: str, search_path: Iterable[str]) -> Iterable[Path]:
    for folder in search_path:
        if (Path(folder) / package / "__init__.py").exists():
            yield Path(folder) / package
        yield Path(folder) / f"{package}.py"


def _analysed_folders(program: PythonProgram) -> set[Path]:
    """The outermost packages of the program, and its modules outside of packages."""
    found = set()
    for module in program.modules.values():
        path = Path(module.path)
        while (path.parent / "__init__.py").exists():
            path = path.parent
        if path.stem not in stdlib_module_names:
            found.add(path)
    return found


def tried(library: Library, in_log: Iterable[tuple[str, str]], interpreter: str, env: Mapping[str, str]) -> Library:
    """The same, after all that may be needed was made once in the workload's interpreter.

    Classes that cannot be made are left out; where none of a package can, that tells nothing of its classes.
    """
    expressions = [
        way
        for kind in library.by_name.values()
        for message in dict.fromkeys(("", usual_message(kind.dotted)))
        for way in ways_to_make(kind.dotted, message, library)
        if kind.dotted.partition(".")[0] in library.packages
    ]
    for name, message in in_log:
        for kind in _classes_named(name, library):
            expressions += ways_to_make(kind, message, library)
    said = texts_of(expressions, interpreter, inherited_environment() | dict(env))
    if said is None:
        return library
    packages = {
        package: tuple(kind for kind in kinds if _can_be_made(kind, said, library)) or kinds
        for package, kinds in library.packages.items()
    }
    return Library(packages, said, library.by_name, library.sources)


def _classes_named(name: str, library: Library) -> set[str]:
    """All that a name of the log may mean, but classes of the program: to import them may run it."""
    last = f".{name.rpartition('.')[2]}"
    kinds = [kind.dotted for package in library.packages.values() for kind in package]
    standard = [kind for kind in (library.canonical(name), *table().bases) if kind not in library.by_name]
    return {kind for kind in (*kinds, *standard) if f".{kind}".endswith(last)}


def _can_be_made(kind: ExceptionClass, said: Mapping[str, str], library: Library) -> bool:
    return any(way in said for way in ways_to_make(kind.dotted, "", library))

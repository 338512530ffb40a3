"""The words of a `java` command: options of the JVM, class path, what it runs, and arguments of that.

`@file` stands for the words in a file, as JDK 9 and later have it.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.errors import UsageError
from cutset.reproduce.jvm.class_path import absolute_entries, manifest_of, split_class_path, with_manifests

_CLASS_PATH = ("-cp", "-classpath", "--class-path")
_MODULE_PATH = ("-p", "--module-path")
_MODULE = ("-m", "--module")
_WITH_VALUE = {  # options that take the next word, unless they are written with `=`
    *(*_CLASS_PATH, *_MODULE_PATH, *_MODULE, "-jar"),
    *("--add-modules", "--add-reads", "--add-exports", "--add-opens", "--limit-modules", "--patch-module"),
    *("--upgrade-module-path", "--source", "--enable-native-access", "--illegal-native-access"),
}
_QUOTED = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_WORD = re.compile(rf"(?:[^\s\"']|{_QUOTED})+", re.DOTALL)
_COMMENT = re.compile(r"(?m)^\s*#.*$")


@dataclass(frozen=True, slots=True)
class JavaCommand:
    program: str
    options: tuple[str, ...] = ()  # of the JVM, without those that are fields here
    class_path: str | None = None  # as it is written; None: not at all
    module_path: str | None = None
    jar: str = ""  # that it runs; of `jar`, `module` and `main` one is given
    module: str = ""  # with its main class, `module/class`
    main: str = ""  # a class; or a source file, which is compiled as it starts
    arguments: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        found = [self.program, *self.options]
        if self.module_path is not None:
            found += ["--module-path", self.module_path]
        if self.class_path is not None:
            found += ["-cp", self.class_path]
        found += ["-jar", self.jar] * bool(self.jar) + ["-m", self.module] * bool(self.module)
        return [*found, *filter(None, [self.main]), *self.arguments]


def is_java(program: str) -> bool:
    return Path(program).name in ("java", "java.exe")


def parse_java(words: Sequence[str], folder: Path) -> JavaCommand:
    """`folder` is where `@files` are looked for."""
    command, rest = JavaCommand(words[0]), list(words[1:])
    while rest:
        word = _next_word(rest, folder)
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if not equals and option in _WITH_VALUE:
            if not rest:
                raise UsageError(f"The workload does not start: `{word}` needs a value", hint="Correct `--run`")
            value = _next_word(rest, folder)
        if option in _CLASS_PATH:
            command = replace(command, class_path=value)
        elif option in _MODULE_PATH:
            command = replace(command, module_path=value)
        elif option == "-jar":
            return replace(command, jar=value, arguments=tuple(rest))
        elif option in _MODULE:
            return replace(command, module=value, arguments=tuple(rest))
        elif word.startswith("-"):
            both = [option, value] if option in _WITH_VALUE and not equals else [word]
            command = replace(command, options=(*command.options, *both))
        elif word:
            return replace(command, main=word, arguments=tuple(rest))
    return command


def _next_word(rest: list[str], folder: Path) -> str:
    """Taken from the rest, of which a file of words becomes a part. Arguments of what is run are never asked for."""
    word = rest.pop(0)
    if not word.startswith("@") or word.startswith("@@"):
        return word
    rest[:0] = _words_in(folder / word[1:])
    return rest.pop(0) if rest else ""


def _words_in(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The workload does not start: the file of words `{path}` cannot be read: {error}", hint="Correct `--run`"
        ) from error
    return [_unquoted(match[0]) for match in _WORD.finditer(_COMMENT.sub("", text))]


def _unquoted(word: str) -> str:
    """In quotes, a backslash stands before what is meant."""
    parts = re.split(_QUOTED, word)
    return "".join(re.sub(r"\\(.)", r"\1", part[1:-1]) if part[:1] in ('"', "'") else part for part in parts)


def searched(command: JavaCommand, environment_path: str, folder: Path) -> list[str]:
    """Where the JVM looks for classes: entries that are there, absolute, in order."""
    if command.jar:
        return with_manifests([os.path.normpath(folder / command.jar)])
    modules = split_class_path(command.module_path, folder) if command.module_path else []
    jars = [str(jar) for entry in modules if Path(entry).is_dir() for jar in sorted(Path(entry).glob("*.jar"))]
    classes = command.class_path if command.class_path is not None else environment_path or "."
    return with_manifests([*jars, *modules, *split_class_path(classes, folder)])


def main_class(command: JavaCommand, folder: Path) -> str:
    """Its binary name; empty if it is not told."""
    if command.jar:
        manifest = manifest_of(os.path.normpath(folder / command.jar))
        return manifest.get("Start-Class", manifest.get("Main-Class", ""))
    if command.module:
        return command.module.partition("/")[2]
    return "" if command.main.endswith(".java") else command.main.replace("/", ".")


def with_class_path(command: JavaCommand, class_path: str, folder: Path) -> JavaCommand:
    """The same with other classes, named as seen from any folder. A jar that it runs gives way to its main class."""
    entries = os.pathsep.join(absolute_entries(class_path, folder))
    if command.jar:
        return replace(command, class_path=entries, jar="", main=main_class(command, folder))
    return replace(command, class_path=entries)

"""Commands that run programs on the JVM: which `java`, its class path, the main class, sources and drivers there."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import which

from cutset.config.workload_command import GivenCommand, WorkloadCommand, absolute_word, find_program, is_path
from cutset.config.workload_command import absolute_words as all_absolute
from cutset.errors import UsageError
from cutset.model.wording import did_you_mean, quoted, sentences
from cutset.reproduce.jvm.class_path import (
    absolute_entries,
    classes_of,
    entry_of,
    has_package,
    nested_jars,
    split_class_path,
    with_manifests,
)
from cutset.reproduce.jvm.jar import find_java
from cutset.reproduce.jvm.java_command import JavaCommand, is_java, main_class, parse_java, searched
from cutset.reproduce.jvm.java_version import refuse_old_java

PATH_VARIABLE = "CLASSPATH"
_NEAR = 5  # names that an error proposes
_BUILD_TOOLS = {"mvn": "Maven", "mvnw": "Maven", "gradle": "Gradle", "gradlew": "Gradle"}
_CLASS_PATH_OF = {
    "Maven": "`mvn dependency:build-classpath -Dmdep.outputFile=cp.txt` writes what it depends on",
    "Gradle": "a task that prints `sourceSets.test.runtimeClasspath.asPath` tells it",
}
_RUNNERS = ("org.junit.", "org.testng.", "org.springframework.boot.loader.")  # their jars say nothing of the system
# `-Dlog4j.configuration=file:log.properties`, `-javaagent:agent.jar=options`, `-XX:Flags=file`
_OPTION = re.compile(r"(-(?:javaagent|agentpath):|-(?:D|XX:)[^=]+=)((?:file:)?)([^=]+)(.*)", re.DOTALL)


def starts_jvm(program: str) -> bool:
    return is_java(program) or Path(program).name in _BUILD_TOOLS


def absolute_words(words: Sequence[str], folder: Path) -> list[str]:
    """But for the main class. What `@files` say is among the words then."""
    if not is_java(words[0]):
        return all_absolute(words, folder)
    command = parse_java(words, folder)

    def entries(text: str | None) -> str | None:
        return None if text is None else os.pathsep.join(absolute_entries(text, folder))

    return replace(
        command,
        program=all_absolute(words[:1], folder)[0],
        options=tuple(_absolute_option(option, folder) for option in command.options),
        class_path=entries(command.class_path),
        module_path=entries(command.module_path),
        jar=absolute_word(command.jar, folder),
        main=absolute_word(command.main, folder) if command.main.endswith(".java") else command.main,
        arguments=tuple(absolute_word(word, folder) for word in command.arguments),
    ).words


def _absolute_option(option: str, folder: Path) -> str:
    match = _OPTION.fullmatch(option)
    if match is None or absolute_word(match[3], folder) == match[3]:
        return option
    return f"{match[1]}{match[2]}{absolute_word(match[3], folder)}{match[4]}"


def looked_in(words: Sequence[str], places: Sequence[str], folder: Path) -> list[str]:
    """The current folder, if nothing is said."""
    command = parse_java(words, folder) if is_java(words[0]) else None
    is_told = places or command is None or command.jar or command.class_path is not None or command.module_path
    return list(places) if is_told else [str(folder)]


def find_command(given: GivenCommand) -> WorkloadCommand:
    """Refuses a Java that is too old, and a class path without the main class."""
    folder = given.cwd or Path("/")
    runs_java = is_java(given.words[0])
    java = _java(given, folder)
    words = (java if runs_java else find_program(given.words[0], given.env, folder), *given.words[1:])
    refuse_old_java(java)
    more = [entry for text in given.class_path for entry in _told(text, folder)]
    if not runs_java:
        return WorkloadCommand(words, java, _of_script(words[0], more), (), ())
    command = parse_java(words, folder)
    entries = tuple(with_manifests([*_searched(command, given, folder), *more]))
    main = main_class(command, folder)
    if main and entry_of(main, entries) is None:
        raise _no_main_class(main, command, given, folder)
    arguments = (re.split(r"[#:]", word.rpartition("=")[2])[0] for word in command.arguments)
    named = [name for name in arguments if "." in name and entry_of(name, entries)]
    return WorkloadCommand(words, java, entries, (), tuple(dict.fromkeys([*filter(None, [main]), *named])))


def _java(given: GivenCommand, folder: Path) -> str:
    """The one that is named, that the command names, of JAVA_HOME, or on PATH."""
    first, home = given.words[0], given.env.get("JAVA_HOME")
    is_found = is_java(first) and ("/" in first or which(first, path=given.env.get("PATH")))
    if named := given.runtime or (first if is_found else None):
        return find_program(named, given.env, folder)
    return find_java(str(Path(home, "bin/java")) if home else None)


def _told(class_path: str, folder: Path) -> list[str]:
    entries = split_class_path(class_path, folder)
    if not any(map(os.path.exists, entries)):
        written = quoted(absolute_entries(class_path, folder))
        raise UsageError(f"Nothing of the class path is there: {written}", hint="Correct `--class-path`")
    return entries


def _of_script(program: str, entries: Sequence[str]) -> tuple[str, ...]:
    if found := with_manifests(entries):
        return tuple(found)
    tool = _BUILD_TOOLS.get(Path(program).name, "")
    raise UsageError(
        f"It cannot be told which class path `{program}` gives to the JVMs that it starts",
        hint=sentences(
            "Name it with `--class-path`, as in `--class-path 'build/classes:lib/*'`",
            f"({_CLASS_PATH_OF[tool]})" if tool else "",
        ),
    )


def _searched(command: JavaCommand, given: GivenCommand, folder: Path) -> list[str]:
    if command.jar and not Path(folder, command.jar).is_file():
        raise UsageError(
            f"The workload does not start: there is no jar `{command.jar}`",
            hint=f"It is looked for in {given.cwd or 'the folder of the command'}: correct `--run`",
        )
    return searched(command, given.env.get(PATH_VARIABLE, ""), folder)


def _no_main_class(main: str, command: JavaCommand, given: GivenCommand, folder: Path) -> UsageError:
    text = command.class_path if command.class_path is not None else given.env.get(PATH_VARIABLE) or "."
    entries = [] if command.jar else split_class_path(text, folder)
    written = [] if command.jar else absolute_entries(text, folder)
    absent = [name for name in written if not any(map(os.path.exists, split_class_path(name, folder)))]
    known = {name for entry in entries for name in classes_of(entry)}
    alike = sorted(name for name in known if name.rpartition(".")[2] == main.rpartition(".")[2])[:_NEAR]
    return UsageError(
        f"The workload does not start: its class path has no class `{main}`",
        hint=sentences(
            f"Did you mean {' or '.join(f'`{name}`' for name in alike)}?" if alike else did_you_mean(main, known),
            f"These entries are not there: {quoted(absent)}." if absent else "",
            "Correct `--run`",
        ),
    )


def find_sources(name: str, search_path: Sequence[str]) -> list[str]:
    """A jar or folder of the class path, or a package there. A folder of jars stands for those on the class path."""
    if not is_path(name):
        return [_package(name, search_path)]
    real = os.path.realpath(name)
    if same := [entry for entry in search_path if os.path.realpath(entry) == real]:
        classes_of(same[0])  # says so if it is no jar
        return same[:1]
    if not Path(name).exists():
        near = did_you_mean(Path(name).name, [Path(entry).name for entry in search_path])
        raise UsageError(f"There is no source at `{name}`", hint=sentences(near, "Correct `--source`"))
    if inside := [entry for entry in search_path if Path(os.path.realpath(entry)).parent == Path(real)]:
        return inside
    raise UsageError(
        f"The source `{name}` is not on the class path of the workload, which would never run it",
        hint="Name a jar or folder of the class path, or a package: " + _some(search_path)
        if Path(name).is_file() or not any(Path(name).rglob("*.java"))
        else "It has Java source: name the folder of its classes instead, or a package",
    )


def _package(name: str, search_path: Sequence[str]) -> str:
    package = name.removesuffix(".*").rstrip(".")
    if any(has_package(entry, package) for entry in search_path):
        return package
    if entry := entry_of(package, search_path):
        inside = package.rpartition(".")[0]
        or_package = f", or its package, `{inside}`" if inside else ""
        raise UsageError(f"The source `{name}` is a class", hint=f"Name its place, `{entry}`{or_package}")
    packages = {cut for entry in search_path for each in classes_of(entry) for cut in _prefixes(each)}
    packed = [entry for entry in search_path if entry.endswith(".jar") and nested_jars(entry)]
    unpack = f"`{packed[0]}` has jars inside, which cannot be read: unpack it, and run it by `-cp`" if packed else ""
    raise UsageError(
        f"There is no package `{name}` on the class path of the workload",
        hint=sentences(
            did_you_mean(package, packages, most=_NEAR),
            f"What is in a folder is named by its path, as in `./{name}`." if "." not in name else "",
            unpack or f"The class path has {_some(search_path)}",
        ),
    )


def _prefixes(class_name: str) -> list[str]:
    parts = class_name.split(".")[:-1]
    return [".".join(parts[:end]) for end in range(2, len(parts) + 1)] or parts


def _some(entries: Sequence[str]) -> str:
    shown = quoted(entries[:_NEAR])
    return f"{shown} and {len(entries) - _NEAR} more" if len(entries) > _NEAR else shown or "nothing that is there"


def find_drivers(names: Sequence[str], command: WorkloadCommand, sources: Sequence[str]) -> list[str]:
    """Jars, folders or classes. Of the command: where its classes are, or these alone if sources are there, too."""
    paths = command.search_path
    for name in names:
        if not (Path(name).exists() if is_path(name) else entry_of(name, paths)):
            raise UsageError(f"There is no driver `{name}`", hint="Name a jar, a folder or a class of the class path")
    found = []
    for name in command.modules:
        entry = entry_of(name, paths)
        packages = [source for source in sources if not is_path(source)]
        if entry is None or entry in sources or name.startswith((*_RUNNERS, *(f"{each}." for each in packages))):
            continue
        found.append(name if any(has_package(entry, each) for each in packages) else entry)
    return [*names, *found]

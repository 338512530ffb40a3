import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.samples.jars import class_folder, jar

from cutset.config.jvm_command import absolute_words, find_command, find_drivers, find_sources, looked_in, starts_jvm
from cutset.config.workload_command import GivenCommand, WorkloadCommand
from cutset.errors import CutsetError, UsageError


@pytest.fixture
def java(tmp_path: Path) -> str:
    """That says its version, and no more."""
    return program(tmp_path / "jdk/bin/java", "echo 'openjdk version \"17.0.1\"' >&2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    class_folder(tmp_path / "work", "Workload", "org.test.QueueTest")
    jar(tmp_path / "lib/zoo-3.5.jar", "org.apache.zoo.Server", "org.apache.zoo.client.Client")
    jar(tmp_path / "lib/netty.jar", "io.netty.Channel")
    jar(tmp_path / "app.jar", "org.shop.Main", manifest="Main-Class: org.shop.Main\r\nClass-Path: lib/netty.jar")
    return tmp_path


def program(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def found(
    text: str, java: str, folder: Path, *class_path: str, env: Mapping[str, str] | None = None, named: str | None = None
) -> WorkloadCommand:
    where = {"PATH": f"{Path(java).parent}:/usr/bin:/bin", **(env or {})}
    return find_command(GivenCommand(tuple(shlex.split(text)), where, folder, named, class_path))


def test_in_another_folder_the_command_means_the_same(folder: Path) -> None:
    for name in ("log.properties", "agent.jar", "Workload", "data"):
        (folder / name).touch()
    (folder / "options").write_text("-Xmx1g -Dx=data")
    options = "@options -Dlog4j.configuration=file:log.properties -javaagent:agent.jar=data -Dy=absent -DWorkload"

    words = absolute_words(shlex.split(f"java {options} -cp work:lib/*: Workload data --in=data absent"), folder)

    at = str(folder)
    assert words == [
        *("java", "-Xmx1g", f"-Dx={at}/data", f"-Dlog4j.configuration=file:{at}/log.properties"),
        *(f"-javaagent:{at}/agent.jar=data", "-Dy=absent", "-DWorkload"),
        *("-cp", f"{at}/work:{at}/lib/*:{at}", "Workload", f"{at}/data", f"--in={at}/data", "absent"),
    ]
    assert absolute_words(["java", "-jar", "app.jar"], folder) == ["java", "-jar", f"{at}/app.jar"]
    assert absolute_words(["bin/run.sh", "data"], folder) == [f"{at}/bin/run.sh", f"{at}/data"]


def test_without_a_class_path_the_jvm_looks_in_the_current_folder(folder: Path) -> None:
    assert looked_in(["java", "Main"], [], folder) == [str(folder)]
    assert looked_in(["java", "Main"], ["/lib"], folder) == ["/lib"]
    for text in ("java -cp x Main", "java -jar app.jar", "bin/run.sh"):
        assert looked_in(shlex.split(text), [], folder) == []


def test_a_command_tells_its_class_path_and_main_class(folder: Path, java: str) -> None:
    command = found("java -cp work:lib/* Workload", java, folder)

    assert command.words[0] == command.runtime == java
    assert command.search_path == (f"{folder}/work", f"{folder}/lib/netty.jar", f"{folder}/lib/zoo-3.5.jar")
    assert command.modules == ("Workload",)
    by_jar = found("java -jar app.jar", java, folder)
    assert (by_jar.search_path, by_jar.modules) == (
        (f"{folder}/app.jar", f"{folder}/lib/netty.jar"),
        ("org.shop.Main",),
    )


def test_a_test_that_a_runner_is_to_run_is_known(folder: Path, java: str) -> None:
    jar(folder / "lib/junit.jar", "org.junit.runner.JUnitCore", "org.junit.platform.console.ConsoleLauncher")
    for main, argument in (
        ("org.junit.runner.JUnitCore", "org.test.QueueTest"),
        ("org.junit.platform.console.ConsoleLauncher", "--select-method=org.test.QueueTest#puts"),
    ):
        command = found(f"java -cp work:lib/* {main} {argument}", java, folder)

        assert command.modules == (main, "org.test.QueueTest")
        assert find_drivers((), command, ("org.apache.zoo",)) == [f"{folder}/work"]


def test_the_java_is_that_of_the_option_of_the_command_of_java_home_or_of_path(folder: Path, java: str) -> None:
    other = program(folder / "other/bin/java", "echo 'openjdk version \"21\"' >&2")
    script = program(folder / "run.sh", "java")

    def runtime(text: str, **more: str) -> str:
        env = {name: value for name, value in more.items() if name != "named"}
        command = found(text, java, folder, "work", env=env, named=more.get("named"))
        return command.runtime

    assert runtime(f"{other} -cp work Workload") == other
    assert runtime("java -cp work Workload", JAVA_HOME=f"{folder}/other") == java
    assert runtime("java -cp work Workload", JAVA_HOME=f"{folder}/other", PATH="/nowhere") == other
    assert runtime(script, JAVA_HOME=f"{folder}/other") == other
    assert runtime(script, named=java, JAVA_HOME=f"{folder}/other") == java
    assert found("java -cp work Workload", java, folder, named=other).words[0] == other


def test_a_start_script_is_told_its_class_path(folder: Path, java: str) -> None:
    script = program(folder / "bin/serve.sh", "exec java")
    env = {"JAVA_HOME": str(Path(java).parents[1])}

    assert found(script, java, folder, "work:lib/*", env=env).search_path[0] == f"{folder}/work"
    with pytest.raises(UsageError, match=r"which class path `\S+serve.sh` gives to the JVMs") as error:
        found(script, java, folder, env=env)
    assert "--class-path 'build/classes:lib/*'" in error.value.hint
    with pytest.raises(UsageError, match="Nothing of the class path is there"):
        found(script, java, folder, "absent.jar", env=env)
    with pytest.raises(UsageError) as error:
        found(program(folder / "mvn", ""), java, folder, env=env)
    assert "dependency:build-classpath" in error.value.hint


def test_a_class_path_with_nothing_there_is_refused_of_any_command(folder: Path, java: str) -> None:
    with pytest.raises(UsageError, match=r"Nothing of the class path is there: `\S+/absent.jar`, `\S+/libs/\*`"):
        found("java -cp work Workload", java, folder, "lib/*", "absent.jar:libs/*")
    assert found("java -cp work Workload", java, folder, "absent.jar:lib/*").search_path[1:]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("java -cp lib/* Workload", "its class path has no class `Workload`", "Correct `--run`"),
        ("java -cp libs/* Workload", "its class path has no class", "libs/*`. Correct `--run`"),
        (
            "java -cp lib/*:absent Server",
            "has no class `Server`",
            "Did you mean `org.apache.zoo.Server`? These entries",
        ),
        ("java -cp lib/* org.apache.zoo.Sever", "has no class", "Did you mean `org.apache.zoo.Server`?"),
        ("java -jar absent.jar", "there is no jar `absent.jar`", "It is looked for in"),
        ("java -cp broken.jar Workload", "broken.jar` is no jar", "downloaded to its end"),
        ("/absent/java -cp work Workload", "`/absent/java` is no program", "absolute path"),
        ("jdk8/bin/java -cp work Workload", "is of Java 8: it takes 11 or later", "--java PATH"),
    ],
)
def test_a_command_that_cannot_work_is_explained(folder: Path, java: str, text: str, message: str, hint: str) -> None:
    (folder / "broken.jar").write_text("no")
    program(folder / "jdk8/bin/java", "echo 'java version \"1.8.0_1\"' >&2")

    with pytest.raises(CutsetError) as error:
        found(text, java, folder)

    assert message in error.value.message
    assert hint in error.value.hint


def test_without_any_java_it_is_said_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with pytest.raises(CutsetError, match="there is no `java`") as error:
        find_command(GivenCommand(("java", "-cp", "work", "Workload"), {"PATH": "/nowhere"}, folder, None))
    assert "Install a Java runtime of 11 or later" in error.value.hint


def test_sources_are_jars_folders_or_packages_of_the_class_path(folder: Path) -> None:
    entries = [f"{folder}/work", f"{folder}/lib/zoo-3.5.jar", f"{folder}/lib/netty.jar"]
    (folder / "link.jar").symlink_to(entries[1])

    for entry in entries:
        assert find_sources(entry, entries) == [entry]
    assert find_sources(f"{folder}/link.jar", entries) == [entries[1]]
    assert find_sources(f"{folder}/lib", entries) == entries[1:]
    assert find_sources("org.apache.zoo", entries) == find_sources("org.apache.zoo.*", entries) == ["org.apache.zoo"]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("org.apache.zo", "There is no package `org.apache.zo`", "Did you mean `org.apache.zoo`"),
        ("zoo", "There is no package `zoo`", "named by its path, as in `./zoo`. The class path has `"),
        ("org.apache.zoo.Server", "is a class", "or its package, `org.apache.zoo`"),
        ("Workload", "is a class", "Name its place, `"),
        ("{}/lib/zoo-3.4.jar", "There is no source at", "Did you mean `zoo-3.5.jar`?"),
        ("{}/app.jar", "is not on the class path of the workload", "Name a jar or folder of the class path"),
        ("{}/src", "is not on the class path of the workload", "name the folder of its classes"),
    ],
)
def test_a_source_that_cannot_be_is_explained(folder: Path, name: str, message: str, hint: str) -> None:
    (folder / "src").mkdir()
    (folder / "src/Main.java").touch()
    entries = [f"{folder}/work", f"{folder}/lib/zoo-3.5.jar"]

    with pytest.raises(UsageError) as error:
        find_sources(name.format(folder), entries)

    assert message in error.value.message
    assert hint in error.value.hint


def test_jars_inside_a_jar_are_not_looked_into(folder: Path) -> None:
    boot = jar(folder / "boot.jar", "org.springframework.boot.loader.JarLauncher", files={"BOOT-INF/lib/zoo.jar": b""})

    with pytest.raises(UsageError) as error:
        find_sources("org.apache.zoo", [boot])
    assert "boot.jar` has jars inside, which cannot be read: unpack it" in error.value.hint


def test_what_drives_the_system_is_where_the_main_class_is(folder: Path, java: str) -> None:
    command = found("java -cp work:lib/* Workload", java, folder)
    work, zoo = command.search_path[0], command.search_path[2]

    assert find_drivers((), command, (zoo,)) == [work]
    assert find_drivers((), command, (work,)) == []
    assert find_drivers((), command, ("org.test",)) == ["Workload"]  # its folder has sources, too
    assert find_drivers(("org.test.QueueTest", zoo), command, (work,)) == ["org.test.QueueTest", zoo]
    server = found("java -cp lib/* org.apache.zoo.Server", java, folder)
    assert find_drivers((), server, ("org.apache.zoo",)) == []
    for name in ("org.Absent", f"{folder}/absent.jar"):
        with pytest.raises(UsageError, match=f"There is no driver `{name}`"):
            find_drivers((name,), command, (zoo,))


def test_commands_that_start_a_jvm_are_known_by_their_first_word() -> None:
    assert all(map(starts_jvm, ["java", "/opt/jdk/bin/java", "mvn", "./gradlew"]))
    assert not any(map(starts_jvm, ["python", "bin/kafka-server-start.sh", "", os.devnull]))

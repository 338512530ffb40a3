import shlex
from pathlib import Path

import pytest
from tests.samples.jars import class_folder, jar

from cutset.errors import UsageError
from cutset.reproduce.jvm.java_command import JavaCommand, is_java, main_class, parse_java, searched, with_class_path


def parsed(text: str, folder: Path = Path("/")) -> JavaCommand:
    return parse_java(shlex.split(text), folder)


@pytest.mark.parametrize("option", ["-cp a:b", "-classpath a:b", "--class-path a:b", "--class-path=a:b"])
def test_the_class_path_is_known_however_it_is_written(option: str) -> None:
    command = parsed(
        f"java -Xmx1g --add-opens java.base/java.lang=ALL-UNNAMED {option} -ea org.Main -cp x --class-path=y"
    )

    assert command == JavaCommand(
        program="java",
        options=("-Xmx1g", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-ea"),
        class_path="a:b",
        main="org.Main",
        arguments=("-cp", "x", "--class-path=y"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "java -cp a:b -Dx=1 -cp c Main arg",
        "/opt/java -jar app.jar -jar x",
        "java -p mods -m shop/org.Main a",
        "java --module-path=mods --add-modules=ALL --module shop",
        "java -cp a Workload.java x",
        "java -version",
    ],
)
def test_a_command_that_is_put_together_again_means_the_same(text: str) -> None:
    command = parsed(text)

    assert parse_java(command.words, Path("/")) == command


def test_files_of_words_become_words(tmp_path: Path) -> None:
    (tmp_path / "options").write_text("""# of the server\n-Xmx1g -cp "my lib/a.jar:b.jar"\n  -Dtext='a "b" \\\\ c'\n""")
    (tmp_path / "path").write_text("one.jar:two.jar\n")

    command = parsed("java @options Main @options", tmp_path)

    assert (command.class_path, command.options) == ("my lib/a.jar:b.jar", ("-Xmx1g", '-Dtext=a "b" \\ c'))
    assert (command.main, command.arguments) == ("Main", ("@options",))
    assert parsed("java -cp @path Main", tmp_path).class_path == "one.jar:two.jar"
    with pytest.raises(UsageError, match="the file of words `/absent` cannot be read"):
        parsed("java @absent Main")


def test_an_option_without_its_value_is_refused() -> None:
    with pytest.raises(UsageError, match="`-cp` needs a value"):
        parsed("java -cp")


def test_classes_are_looked_for_where_the_jvm_does(tmp_path: Path) -> None:
    a, b = jar(tmp_path / "a.jar", manifest="Class-Path: lib/b.jar"), jar(tmp_path / "lib/b.jar")
    classes = class_folder(tmp_path / "classes", "Main")

    def entries(text: str, variable: str = "") -> list[str]:
        return searched(parsed(text), variable, tmp_path)

    assert entries("java -jar a.jar", "classes") == entries("java -cp classes -jar a.jar") == [a, b]
    assert entries("java -cp classes:absent:lib/* Main", "a.jar") == [classes, b]
    assert entries("java Main", "classes") == [classes]
    assert entries("java Main") == [str(tmp_path)]
    assert entries("java -p lib -cp classes -m shop/Main") == [b, f"{tmp_path}/lib", classes]


def test_the_main_class_is_known(tmp_path: Path) -> None:
    jar(tmp_path / "a.jar", manifest="Main-Class: org.Main")
    jar(tmp_path / "boot.jar", manifest="Main-Class: org.Loader\r\nStart-Class: org.Shop")
    commands = (
        "java -jar a.jar",
        "java -jar boot.jar",
        "java -m shop/org.Main",
        "java org/Main",
        "java W.java",
        "java",
    )

    found = [main_class(parsed(text), tmp_path) for text in commands]

    assert found == ["org.Main", "org.Shop", "org.Main", "org.Main", "", ""]


def test_a_command_with_another_class_path_runs_the_same_class(tmp_path: Path) -> None:
    jar(tmp_path / "a.jar", manifest="Main-Class: org.Main")
    new = f"{tmp_path}/fixed.jar:{tmp_path}/lib/*"

    for text in ("java -ea -cp old Main x", "java -ea -jar a.jar x", "java -ea Main x"):
        words = with_class_path(parsed(text), "fixed.jar:lib/*", tmp_path).words
        assert words == ["java", "-ea", "-cp", new, "org.Main" if "-jar" in text else "Main", "x"]


def test_a_jvm_is_told_by_its_name() -> None:
    assert is_java("java")
    assert is_java("/opt/jdk/bin/java")
    assert not is_java("javac")

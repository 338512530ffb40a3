from pathlib import Path

import pytest
from tests.samples.jars import class_folder, jar

from cutset.errors import InputError
from cutset.reproduce.jvm.class_path import (
    classes_of,
    entry_of,
    has_package,
    is_path,
    manifest_of,
    nested_jars,
    split_class_path,
    with_manifests,
)


def test_a_class_path_is_made_of_folders_jars_and_all_jars_of_a_folder(tmp_path: Path) -> None:
    b, a = jar(tmp_path / "lib/b.jar"), jar(tmp_path / "lib/A.JAR")
    (tmp_path / "lib/notes.txt").touch()

    assert split_class_path("classes:lib/*::/opt/x.jar", tmp_path) == [
        f"{tmp_path}/classes",
        *sorted([a, b]),
        str(tmp_path),
        "/opt/x.jar",
    ]


def test_manifests_add_to_it_and_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    first = jar(tmp_path / "first.jar", manifest="Class-Path: lib/a%20b.jar\r\n  absent.jar first.jar")
    second = jar(tmp_path / "lib/a b.jar", manifest="Class-Path: ../third.jar\r\n\r\nName: x\r\nClass-Path: y")
    third, last = jar(tmp_path / "third.jar"), jar(tmp_path / "last.jar")

    assert with_manifests([first, f"{tmp_path}/absent.jar", last, third]) == [first, second, third, last]


def test_long_lines_of_a_manifest_are_put_together(tmp_path: Path) -> None:
    path = jar(tmp_path / "x.jar", manifest="Main-Class: org.shop.M\r\n ain\r\nX-Empty: ")

    assert manifest_of(path)["Main-Class"] == "org.shop.Main"
    assert manifest_of(jar(tmp_path / "none.jar")) == {}


def test_classes_are_known_by_their_binary_names(tmp_path: Path) -> None:
    names = ("org.shop.Main", "org.shop.Main$Inner", "Workload")
    more = {
        "META-INF/versions/9/org/shop/Main.class": b"",
        "module-info.class": b"",
        "org/shop/package-info.class": b"",
    }
    entries = [jar(tmp_path / "a.jar", *names, files=more), class_folder(tmp_path / "classes", *names)]

    assert [classes_of(entry) for entry in entries] == [frozenset(names)] * 2
    assert classes_of(f"{tmp_path}/absent.jar") == frozenset()


def test_folders_that_are_no_packages_are_not_looked_into(tmp_path: Path) -> None:
    class_folder(tmp_path / "a/.git", "X")
    class_folder(tmp_path / "a/META-INF", "X")

    assert classes_of(class_folder(tmp_path / "a", "org.A")) == {"org.A"}


def test_a_class_is_found_where_the_jvm_finds_it(tmp_path: Path) -> None:
    first, second = jar(tmp_path / "1.jar", "org.A"), class_folder(tmp_path / "2", "org.A", "org.deep.B")

    assert [entry_of(name, [first, second]) for name in ("org.A", "org.deep.B", "C")] == [first, second, None]
    assert [has_package(second, name) for name in ("org", "org.deep", "or", "org.A")] == [True, True, False, False]


def test_what_is_no_jar_is_said_to_be_none(tmp_path: Path) -> None:
    broken, other = tmp_path / "broken.jar", tmp_path / "config.properties"
    broken.write_text("<html>not found</html>")
    other.touch()

    with pytest.raises(InputError, match=r"broken\.jar` is no jar: File is not a zip file"):
        classes_of(str(broken))
    with pytest.raises(InputError, match="is no jar"):
        with_manifests([str(broken)])
    assert with_manifests([str(other)]) == [str(other)]
    assert classes_of(str(other)) == frozenset()


def test_jars_inside_a_jar_are_seen(tmp_path: Path) -> None:
    assert nested_jars(jar(tmp_path / "boot.jar", files={"BOOT-INF/lib/a.jar": b""})) == ["BOOT-INF/lib/a.jar"]


def test_paths_and_names_are_told_apart() -> None:
    assert all(map(is_path, ["a.jar", "target/classes", "."]))
    assert not is_path("org.apache.zookeeper")

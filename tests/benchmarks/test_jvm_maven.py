"""Coordinates of jars, and where they are kept."""

from pathlib import Path

import pytest
from benchmarks.jvm.maven import NoSuchJarError, overridden, path_of, read_coordinates


def test_a_coordinate_is_a_path_in_mavens_layout() -> None:
    assert path_of("org.acme:shop:1.2") == "org/acme/shop/1.2/shop-1.2.jar"
    assert path_of("org.acme:shop:1.2:tests") == "org/acme/shop/1.2/shop-1.2-tests.jar"


def test_what_is_no_coordinate_is_named() -> None:
    with pytest.raises(NoSuchJarError, match=r"`shop-1\.2` is not `group:artifact:version"):
        path_of("shop-1.2")


def test_another_version_takes_the_place_of_the_same_artifact_and_classifier() -> None:
    jars = ["a:shop:1", "a:shop:1:tests", "a:log:1"]
    assert overridden(jars, ["a:shop:2", "a:new:1"]) == ["a:shop:2", "a:shop:1:tests", "a:log:1", "a:new:1"]


def test_comments_and_empty_lines_are_no_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "jars.txt"
    path.write_text("# what it runs on\na:shop:1  # the shop\n\n")
    assert read_coordinates(path) == ["a:shop:1"]

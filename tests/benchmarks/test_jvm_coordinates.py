"""Lists of coordinates of jars."""

from pathlib import Path

from benchmarks.jvm.coordinates import overridden, read_coordinates


def test_another_version_takes_the_place_of_the_same_artifact_and_classifier() -> None:
    jars = ["a:shop:1", "a:shop:1:tests", "a:log:1"]
    assert overridden(jars, ["a:shop:2", "a:new:1"]) == ["a:shop:2", "a:shop:1:tests", "a:log:1", "a:new:1"]


def test_comments_and_empty_lines_are_no_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "jars.txt"
    path.write_text("# what it runs on\na:shop:1  # the shop\n\n")
    assert read_coordinates(path) == ["a:shop:1"]

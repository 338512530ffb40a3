import pytest

from cutset.errors import UsageError
from cutset.traces.files.find import STDIN, find_files


def test_files_are_found_in_directories_and_by_patterns(tmp_path):
    names = [
        "a.json",
        "b.csv.gz",
        "README.md",
        "LICENSE",
        "mapping.yaml",
        "tool.py",
        ".hidden.json",
        "deep/c",
        "deep/.git/d",
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(*sources):
        return [str(path.relative_to(tmp_path)) for path in find_files([str(tmp_path / source) for source in sources])]

    assert found(".") == ["a.json", "b.csv.gz", "deep/c"]
    assert found("a.json", ".") == ["a.json", "b.csv.gz", "deep/c"]
    assert found("README.md") == ["README.md"]
    assert found("*.json") == ["a.json"]
    assert found("**/c") == ["deep/c"]
    assert found("de*") == ["deep/c"]
    assert find_files(["-"]) == [STDIN]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.json", "does not exist"),
        ("*.zip", "No file of traces matches"),
        ("empty", "No file of traces matches"),
    ],
)
def test_a_source_without_files_is_an_error(source, message, tmp_path):
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match=message):
        find_files([str(tmp_path / source)])

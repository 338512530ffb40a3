import pytest
from checks.mirror import stray_tests, untested_files

SOURCE = "def f():\n    return 1\n"
DECLARING = ["LIMIT = 3", "class A(Protocol):\n    def f(self):\n        ...", "class A:\n    x: int"]


@pytest.mark.parametrize("source", DECLARING)
def test_a_source_file_that_only_declares_needs_none(repository, source):
    assert untested_files(repository({"src/cutset/a.py": source})) == {}


def test_a_method_is_something_to_test(repository):
    assert untested_files(repository({"src/cutset/a.py": "class A:\n    async def f(self):\n        return 1"}))


def test_a_source_file_needs_a_test_file_at_the_mirrored_path(repository):
    root = repository(
        {
            "src/cutset/search/cuts.py": SOURCE,
            "src/cutset/search/cover.py": SOURCE,
            "src/cutset/search/__init__.py": SOURCE,
            "src/cutset/__main__.py": SOURCE,
            "src/cutset_demo/shop_pb2.py": SOURCE,
            "src/cutset/given_to_users/test_reproduction.py": SOURCE,
            "agent/src/cutset_agent/wire.py": SOURCE,
            "tests/cutset/search/test_cuts.py": "",
            "tests/cutset/test_cover.py": "",
        }
    )

    assert untested_files(root) == {
        "src/cutset/search/cover.py": "src/cutset/search/cover.py has no tests/cutset/search/test_cover.py",
        "agent/src/cutset_agent/wire.py": "agent/src/cutset_agent/wire.py has no tests/cutset_agent/test_wire.py",
    }


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("src/cutset/a/b.py", "tests/cutset/a/test_b.py"),
        ("src/cutset/a/b.py", "tests/cutset/a/test_b_when_it_rains.py"),
        ("src/cutset/a/filter.lua", "tests/cutset/a/test_filter.py"),
        ("src/cutset_demo/FLAWS.yaml", "tests/cutset_demo/test_flaws.py"),
        ("src/cutset/a/__init__.py", "tests/cutset/a/test_a.py"),
        ("src/cutset/a/b.py", "tests/cutset/a/conftest.py"),
        ("src/cutset/a/b.py", "tests/end_to_end/test_anything.py"),
    ],
)
def test_a_test_file_is_named_after_a_source_file(repository, source, test):
    assert stray_tests(repository({source: "", test: ""})) == {}


def test_a_test_file_that_its_source_file_left_behind_is_found(repository):
    root = repository({"src/cutset/new/b.py": "", "tests/cutset/old/test_b.py": ""})

    assert stray_tests(root) == {
        "tests/cutset/old/test_b.py": "tests/cutset/old/test_b.py tests no source file: there is no cutset/old/b.py"
    }

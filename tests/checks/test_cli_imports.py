import pytest
from checks.cli_imports import cli_imports

IMPORTS = [
    "import cutset.cli.main",
    "from cutset import cli",
    "from cutset.cli.run import Run",
    "def f():\n    import cutset.cli",
]


@pytest.mark.parametrize("source", IMPORTS)
@pytest.mark.parametrize("path", ["benchmarks/search.py", "tests/end_to_end/test_demo.py", "examples/explore.py"])
def test_only_the_tests_of_the_command_line_may_import_it(repository, path, source):
    line = source.count("\n") + 1
    assert cli_imports(repository({path: source})) == {path: f"{path}:{line} imports cutset.cli"}
    assert (
        cli_imports(repository({path: "from cutset.app import explore", "tests/cutset/cli/test_run.py": source})) == {}
    )

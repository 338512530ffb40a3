import subprocess
import sys

import pytest

from cutset_agent.imports import after_import, waiting_for_a_while


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that can be imported once."""
    folder = tmp_path / "some_library"
    folder.mkdir()
    (folder / "__init__.py").write_text("from some_library import inner\nready = True\n")
    (folder / "inner.py").write_text("inside = True\n")
    (folder / "data.txt").write_text("data")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in ("some_library", "some_library.inner"):
        sys.modules.pop(name, None)


def test_an_imported_module_calls_back_at_once():
    called = []
    after_import("json", called.append)
    assert [module.__name__ for module in called] == ["json"]


def test_others_call_back_when_they_are_whole(package):
    called = []
    after_import("some_library", lambda module: called.append((module.__name__, module.ready)))
    after_import("some_library.inner", lambda module: called.append((module.__name__, module.inside)))
    assert called == []
    import some_library

    assert called == [("some_library.inner", True), ("some_library", True)]
    assert type(some_library.__loader__).__name__ == type(some_library.__spec__.loader).__name__ == "SourceFileLoader"


def test_resources_and_reloads_work_as_ever(package):
    import importlib
    import importlib.resources

    called = []
    after_import("some_library", called.append)
    import some_library

    assert importlib.resources.files("some_library").joinpath("data.txt").read_text() == "data"
    importlib.reload(some_library)
    assert len(called) == 1


def test_a_module_that_is_not_there_stays_not_there_and_may_come(package):
    after_import("unheard_of_library", pytest.fail)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="unheard_of_library"):
            import unheard_of_library  # noqa: F401


def test_a_module_that_fails_fails_as_ever(package):
    (package / "inner.py").write_text("1 / 0\n")
    after_import("some_library", pytest.fail)
    with pytest.raises(ZeroDivisionError):
        import some_library  # noqa: F401


def test_run_as_a_program_a_module_calls_back_too(tmp_path):
    (tmp_path / "program.py").write_text("print(__name__)\n")
    source = (
        "import runpy; from cutset_agent.imports import after_import;"
        "after_import('program', print); runpy.run_module('program', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "__main__\n"


def test_whoever_waits_for_a_while_is_not_called_afterwards(package):
    finders, called = list(sys.meta_path), []
    with waiting_for_a_while():
        after_import("some_library.inner", called.append)
        after_import("json", called.append)
    import some_library.inner  # noqa: F401

    assert [module.__name__ for module in called] == ["json"]
    assert len(sys.meta_path) <= len(finders)

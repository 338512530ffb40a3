"""What `make dist` holds a wheel against."""

import zipfile

import pytest

from checks import dist


@pytest.fixture
def source(tmp_path):
    for name in ("small/__init__.py", "small/page.html", "small/__pycache__/page.pyc", "small/.DS_Store"):
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path / "src"


def test_every_file_of_the_source_belongs_into_the_wheel(source):
    assert dist.source_files(source) == {"small/__init__.py", "small/page.html"}


def test_a_wheel_has_its_own_files_beside_those_of_the_source(tmp_path):
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small/__init__.py", "")
        archive.writestr("small-1.0.dist-info/METADATA", "")
    assert dist.wheel_files(wheel) == {"small/__init__.py"}


def test_it_says_whether_a_wheel_does_jvm_programs(tmp_path, capsys):
    wheel = tmp_path / "cutset-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("cutset/__init__.py", "")
    assert not dist.has_jar(wheel)
    assert "Python programs only" in capsys.readouterr().err
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("cutset/reproduce/jvm/cutset-jvm.jar", "")
    assert dist.has_jar(wheel)


def test_a_command_that_fails_is_named_in_one_line():
    with pytest.raises(dist.DistError, match=r"ended with 3: the reason$"):
        dist._run("sh", "-c", "echo more; echo the reason >&2; exit 3")


def test_environments_see_nothing_of_ours(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("CUTSET_AGENT", "1")
    assert dist._run("sh", "-c", "echo $PYTHONPATH$CUTSET_AGENT") == "\n"

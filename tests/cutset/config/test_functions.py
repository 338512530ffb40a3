from pathlib import Path

import pytest

from cutset.config.functions import digest_of, function_file, named_function
from cutset.errors import UsageError


def test_a_file_is_executed_when_its_function_is_called_and_once(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 'hello'\n")
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\nfrom beside import WORD\n"
        f"ran = Path({str(tmp_path / 'ran')!r})\nran.write_text('x' + (ran.read_text() if ran.exists() else ''))\n"
        "def greet(name):\n    return f'{WORD} {name}'\n"
    )
    greet = named_function("own.py:greet", tmp_path)
    assert not (tmp_path / "ran").exists()
    assert greet("Ada") == "hello Ada"
    assert greet("Bob") == "hello Bob"
    assert (tmp_path / "ran").read_text() == "x"


def test_a_file_that_is_not_there_is_told_when_the_configuration_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        named_function("none.py:f", tmp_path)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\ny = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("def f(:\n", "line 1: SyntaxError"),
        ("import no_such_module_anywhere\n", "line 1: ModuleNotFoundError"),
        ("g = 1\n", "has no function `f`"),
    ],
)
def test_what_is_wrong_with_it_is_told_with_its_line(tmp_path: Path, source: str, told: str) -> None:
    (tmp_path / "own.py").write_text(source)
    with pytest.raises(UsageError, match=told):
        named_function("own.py:f", tmp_path)()


def test_its_digest_changes_with_its_content(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("a = 1\n")
    path = function_file("own.py:f", tmp_path)
    before = digest_of(path)
    path.write_text("a = 2\n")
    assert digest_of(path) != before


def test_a_module_of_the_folder_is_imported_with_what_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "flows_of_users").mkdir()
    (tmp_path / "flows_of_users" / "__init__.py").touch()
    (tmp_path / "flows_of_users" / "prices.py").write_text("def price():\n    return 7\n")
    (tmp_path / "flows_of_users" / "shop.py").write_text("from .prices import price\ndef buy():\n    return price()\n")

    assert function_file("flows_of_users.shop:buy", tmp_path) == tmp_path / "flows_of_users" / "shop.py"
    assert named_function("flows_of_users.shop:buy", tmp_path)() == 7


@pytest.mark.parametrize("text", ["no_such_module_anywhere:f", "no_such.module.anywhere:f", "sys:f"])
def test_a_module_that_is_not_there_is_told_when_the_configuration_is_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="there is no module"):
        named_function(text, tmp_path)

import email
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.python.locate import code_around, file_of, locate, positions
from cutset.reproduce.python.source import read_program

STANDARD_LIBRARY = Path(email.__file__).parent.parent

SHOP = """
import socket

def pay(order):
    address = (order.host, 443)
    raise_later = lambda: socket.create_connection(address)
    with socket.create_connection(address) as bank:
        bank.sendall(order.text)
    if not order.paid:
        raise ValueError("not paid")
"""


def shop_sites(folder: Path, source: str) -> list[Site]:
    (folder / "shop.py").write_text(source)
    return list(read_program(["shop"], [str(folder)]).sites)


@pytest.mark.parametrize("package", ["asyncio", "email", "http", "logging"])
def test_every_site_of_the_search_has_the_same_position(package: str) -> None:
    sites = read_program([package], [str(STANDARD_LIBRARY)]).sites
    found = {path: positions(Path(path), module) for path, module in {(site.path, site.module) for site in sites}}

    assert len(sites) > 300
    for site in sites:
        position = found[site.path][site.function, site.expression, site.ordinal, site.kind.value]
        assert position == (site.line, site.column, site.end_line, site.end_column), str(site)


def found_again(site: Site, source: str, *, module: str = "shop") -> Site | None:
    """By the code around it, in a file with other contents, which may be another module."""
    path = Path(site.path)
    around = code_around(path, site.line, site.end_line)
    other = path.with_name(f"{module}.py")
    other.write_text(source)
    return locate(site, around, [(module, other)])


def test_a_site_is_found_where_it_is(tmp_path: Path) -> None:
    sites = shop_sites(tmp_path, SHOP)

    assert {site.kind for site in sites} == {SiteKind.CALL, SiteKind.RAISE}
    for site in sites:
        assert locate(replace(site, path="elsewhere.py", line=0), (), [("shop", tmp_path / "shop.py")]) == site


def test_a_site_is_found_on_other_lines(tmp_path: Path) -> None:
    changed = SHOP.replace("def pay", "\n\nclass Bank:\n    pass\n\n\ndef pay")
    after = shop_sites(tmp_path, changed)
    before = shop_sites(tmp_path, SHOP)

    assert before != after
    for old, new in zip(before, after, strict=True):
        (tmp_path / "shop.py").write_text(SHOP)
        assert found_again(old, changed) == new


SAVE = """
import os

def save(order, index):
    text = order.text()
    with open(order.path, "w") as file:
        file.write(text)
    os.fsync(file)
    index.add(order)
    with open(index.path, "w") as file:
        file.write(index.text())
    return index
"""
INDEX = 'with open(index.path, "w") as file:'


@pytest.mark.parametrize(
    ("source", "line", "function"),
    [
        (SAVE.replace("    text =", "    open(order.lock).close()\n    text ="), 11, "save"),  # one more before it
        (SAVE.replace('    with open(order.path, "w") as file:', "    with order.opened() as file:"), 10, "save"),
        (SAVE.replace("def save", "def store"), 10, "store"),
        (SAVE.replace("def save(order", "class Shop:\n  def save(self, order"), 11, "Shop.save"),
    ],
)
def test_of_several_such_calls_it_is_the_one_with_the_same_code_around(
    tmp_path: Path, source: str, line: int, function: str
) -> None:
    site = next(each for each in shop_sites(tmp_path, SAVE) if (each.expression, each.ordinal) == ("open", 1))

    found = found_again(site, source)

    assert found is not None
    assert (found.line, found.function) == (line, function)
    assert INDEX in source.splitlines()[line - 1]


def test_a_function_is_found_in_another_module(tmp_path: Path) -> None:
    site = shop_sites(tmp_path, SAVE)[0]

    found = found_again(site, SAVE, module="store")

    assert found is not None
    assert (found.module, found.path, found.line) == ("store", str(tmp_path / "store.py"), site.line)


def test_another_call_of_the_same_kind_is_not_taken_for_it(tmp_path: Path) -> None:
    site = next(each for each in shop_sites(tmp_path, SAVE) if (each.expression, each.ordinal) == ("open", 1))
    without = SAVE.replace(INDEX, "with index.opened() as file:")

    assert found_again(site, without) is None


def test_a_package_goes_before_a_module_of_its_name(tmp_path: Path) -> None:
    shop_sites(tmp_path, SHOP)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text(SHOP)

    assert file_of("shop", [str(tmp_path / "empty"), str(tmp_path)]) == tmp_path / "shop/__init__.py"
    assert file_of("shop", [str(tmp_path / "empty")]) is None


@pytest.mark.parametrize(
    "source", [SHOP.replace("socket.create_connection", "connect"), "def pay(:", "", "def sell(): pass"]
)
def test_a_site_that_is_gone_is_not_found(tmp_path: Path, source: str) -> None:
    assert found_again(shop_sites(tmp_path, SHOP)[0], source) is None


def test_a_file_that_is_gone_has_no_site(tmp_path: Path) -> None:
    site = shop_sites(tmp_path, SHOP)[0]

    assert locate(site, (), [("shop", tmp_path / "none.py")]) is None
    assert code_around(tmp_path / "none.py", 3, 3) == ()

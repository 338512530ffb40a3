import email
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.python.locate import locate, positions
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


def test_a_site_is_found_where_an_import_would_find_its_module(tmp_path: Path) -> None:
    sites = shop_sites(tmp_path, SHOP)

    assert {site.kind for site in sites} == {SiteKind.CALL, SiteKind.RAISE}
    for site in sites:
        assert locate(replace(site, path="elsewhere.py", line=0), [str(tmp_path / "empty"), str(tmp_path)]) == site


def test_a_site_is_found_on_other_lines(tmp_path: Path) -> None:
    before = shop_sites(tmp_path, SHOP)
    after = shop_sites(tmp_path, SHOP.replace("def pay", "\n\nclass Bank:\n    pass\n\n\ndef pay"))

    assert [locate(site, [str(tmp_path)]) for site in before] == after
    assert before != after


def test_a_package_goes_before_a_module_of_its_name(tmp_path: Path) -> None:
    site = shop_sites(tmp_path, SHOP)[0]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text(SHOP)

    found = locate(site, [str(tmp_path)])

    assert found is not None
    assert found.path == str(tmp_path / "shop/__init__.py")


@pytest.mark.parametrize(
    "source", [SHOP.replace("socket.create_connection", "connect"), "def pay(:", "", "def sell(): pass"]
)
def test_a_site_that_is_gone_is_not_found(tmp_path: Path, source: str) -> None:
    site = shop_sites(tmp_path, SHOP)[0]
    (tmp_path / "shop.py").write_text(source)

    assert locate(site, [str(tmp_path)]) is None


def test_a_module_that_is_gone_is_not_found(tmp_path: Path) -> None:
    site = shop_sites(tmp_path, SHOP)[0]

    assert locate(site, [str(tmp_path / "empty")]) is None

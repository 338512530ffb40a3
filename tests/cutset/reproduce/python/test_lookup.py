"""What names stand for, with everything that reading a program knows."""

import textwrap
from pathlib import Path

import pytest

from cutset.reproduce.python.extract import read_module
from cutset.reproduce.python.lookup import Lookup, Meaning, accepts
from cutset.reproduce.python.source_text import parse
from cutset.reproduce.python.syntax import Module
from cutset.reproduce.python.tables import Tables

SHOP = """
import socket as net
import db
from stock import Stock, helper, LIMIT
from stock import *

class Base:
    def close(self): ...

class Shop(Base):
    stock: Stock
    def __init__(self, pool: db.Pool, name):
        self.pool = pool
        self.first = self.make()
    def make(self) -> Stock: ...
    def sell(self, item):
        inner = Shop(item, "x")
        wire = net.socket()
        again = helper
        def local(): ...
        return local

class Special(Shop):
    def close(self): ...

def outer(): ...
"""
STOCK = """
class Stock:
    def count(self): ...
    class Row: ...
def helper(a, b=1, *, c=2): ...
def starred(): ...
LIMIT = 3
"""


@pytest.fixture(name="lookup")
def fixture_lookup() -> Lookup:
    tables = Tables()
    modules: dict[str, Module] = {}
    for name, text in (("shop", SHOP), ("stock", STOCK)):
        tree = parse(textwrap.dedent(text), Path(f"{name}.py"), [])
        assert tree is not None
        modules[name] = read_module(tree, name, f"{name}.py", 1, tables=tables, implicit=frozenset(), injectable=True)
    return Lookup(tables, modules)


def function(lookup: Lookup, name: str) -> int:
    return next(number for number, one in enumerate(lookup.tables.functions) if one.name == name)


def words(lookup: Lookup, meaning: Meaning) -> str:
    functions = [lookup.tables.functions[one].name for one in meaning.functions]
    classes = [lookup.tables.classes[one].name for one in meaning.classes]
    variable = [f"variable {meaning.variable[1]}"] if meaning.variable else []
    module = [f"module {meaning.module}"] if meaning.module else []
    return ", ".join([*functions, *classes, *meaning.external, *variable, *module])


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("outer", "outer"),
        ("Shop", "Shop"),
        ("Shop.sell", "Shop.sell"),
        ("Special.sell", "Shop.sell"),
        ("Stock.Row", "Stock.Row"),
        ("helper", "helper"),
        ("starred", "starred"),
        ("net.socket", "socket.socket"),
        ("db.Pool", "db.Pool"),
        ("local", "local"),
        ("inner", "variable inner"),
        ("LIMIT", "variable LIMIT"),
        ("len", "len"),
        ("nowhere", ""),
    ],
)
def test_a_name_means_what_scopes_and_imports_say(lookup: Lookup, name: str, meaning: str):
    found = words(lookup, lookup.meaning(function(lookup, "Shop.sell"), tuple(name.split("."))))
    assert found.replace("Shop.sell.local", "local") == meaning


def test_a_dotted_name_is_found_through_its_module(lookup: Lookup):
    assert words(lookup, lookup.dotted("stock")) == "module stock"
    assert words(lookup, lookup.dotted("shop.Stock")) == "Stock"
    assert words(lookup, lookup.dotted("stock.LIMIT")) == "variable LIMIT"
    assert words(lookup, lookup.dotted("elsewhere.thing")) == "elsewhere.thing"


def test_a_variable_that_is_only_another_name_stands_for_what_it_names(lookup: Lookup):
    scope = function(lookup, "Shop.sell")
    assert words(lookup, lookup.alias((scope, "again"))) == "helper"
    assert lookup.alias((scope, "inner")) == Meaning()


def classes(lookup: Lookup, chain: str) -> str:
    types = lookup.types(function(lookup, "Shop.sell"), tuple(chain.split(".")))
    names = [lookup.tables.classes[one].name for one in types.classes]
    return ", ".join([*names, *types.external]) + ("" if types.complete else "?")


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ("self", "Shop"),
        ("self.pool", "db.Pool"),
        ("self.stock", "Stock"),
        ("self.first", "Stock"),
        ("inner", "Shop"),
        ("inner.pool", "db.Pool"),
        ("wire", "socket.socket"),
        ("item", "?"),
        ("self.name", "?"),
        ("self.pool.cursor", "?"),
    ],
)
def test_types_are_known_where_the_source_says_them_plainly(lookup: Lookup, chain: str, expected: str):
    assert classes(lookup, chain) == expected


def test_classes_know_their_bases_and_who_derives_from_them(lookup: Lookup):
    numbers = {each.name: number for number, each in enumerate(lookup.tables.classes)}
    names = [lookup.tables.classes[one].name for one in lookup.ancestors(numbers["Special"])]
    assert names == ["Special", "Shop", "Base"]
    below = {lookup.tables.classes[one].name for one in lookup.descendants(numbers["Base"])}
    assert below == {"Base", "Shop", "Special"}
    (own,) = lookup.method(numbers["Special"], "close")
    (inherited,) = lookup.method(numbers["Shop"], "close")
    assert lookup.tables.functions[own].name == "Special.close"
    assert lookup.tables.functions[inherited].name == "Base.close"


@pytest.mark.parametrize(
    ("call", "expected"),
    [("helper(1)", True), ("helper(1, 2, c=3)", True), ("helper()", False), ("helper(1, 2, 3)", False),
     ("helper(1, d=4)", False), ("helper(*x)", True), ("helper(**x)", True)],
)  # fmt: skip
def test_a_call_tells_apart_what_has_the_same_name(lookup: Lookup, call: str, expected: bool):
    tables = Tables()
    tree = parse(call, Path("call.py"), [])
    assert tree is not None
    read_module(tree, "call", "call.py", 1, tables=tables, implicit=frozenset(), injectable=True)
    helper = lookup.tables.functions[function(lookup, "helper")]
    assert accepts(helper, tables.events[0], bound=False) is expected

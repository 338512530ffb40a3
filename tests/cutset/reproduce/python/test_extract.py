"""What is defined, imported and written in a module, as it is written."""

from pathlib import Path

from tests.samples.small_programs import read_app, read_package

from cutset.reproduce.python.syntax import RETURN, Function, PythonProgram


def function(program: PythonProgram, name: str) -> Function:
    (found,) = [one for one in program.functions if one.name == name]
    return found


def test_a_function_has_its_place_and_its_signature(tmp_path: Path):
    program = read_app(
        tmp_path,
        """
        import functools

        class Shop:
            @functools.cache
            def sell(self, item: "Item", /, price=0, *rest, note=None, **more) -> Receipt | None:
                def inner():
                    pass
        """,
    )
    sell = function(program, "Shop.sell")
    assert (sell.line, sell.end_line) == (5, 8)  # with its decorator
    assert program.classes[sell.owner].name == "Shop"
    assert (sell.parameters, sell.required, sell.keyword_only) == (("self", "item", "price"), 2, ("note",))
    assert (sell.starred, sell.keyworded) == ("rest", "more")
    assert (sell.decorators, sell.returns) == ((("functools", "cache"),), ("Receipt",))
    inner = function(program, "Shop.sell.inner")
    assert program.functions[inner.outer] is sell
    assert all(one.imported for one in program.functions if one.name == "<module>")
    assert not sell.imported


def test_sites_in_a_lambda_are_named_by_the_function_around_it(tmp_path: Path):
    program = read_app(tmp_path, "import os\n\ndef f(a):\n    a.later(lambda: os.stat('x'))\n")
    assert "app::f::os.stat" in map(str, program.sites)
    assert function(program, "f.<lambda>").site_name == "f"


def test_imports_are_dotted_names_also_relative_ones(tmp_path: Path):
    program = read_package(
        tmp_path,
        a="""
        import os.path
        import socket as net
        from . import b
        from .b import helper as h
        from app.b import *
        try:
            import fast
        except ImportError:
            import slow as fast
        """,
        b="def helper():\n    pass\n",
    )
    assert program.modules["app.a"].imports == {
        "os": ("os",),
        "net": ("socket",),
        "b": ("app.b",),
        "h": ("app.b.helper",),
        "*": ("app.b.*",),
        "fast": ("fast", "slow"),
    }


def test_classes_know_their_bases_methods_and_what_their_attributes_are_made_from(tmp_path: Path):
    program = read_app(
        tmp_path,
        """
        class Base(Generic[T]):
            limit: Limit = None
            def __init__(self, pool: Pool):
                self.pool = pool
                self.log = make_log()
                self.items = []
        """,
    )
    (base,) = program.classes
    assert base.bases == (("Generic",),)
    assert set(base.methods) == {"__init__"}
    assert base.attributes == {
        "limit": (("Limit",),),
        "pool": (("Pool",),),
        "log": (("make_log",),),
        "items": (("list",),),
    }


def test_writes_are_of_the_scope_that_the_name_belongs_to(tmp_path: Path):
    program = read_app(
        tmp_path,
        """
        total = 0

        def f(a):
            global total
            total += a.count()
            a.state["x"], b = a.pair
            return b
        """,
    )
    writes = {write.name: write for write in program.writes if program.functions[write.scope].name != "<module>"}
    assert writes["state"].target == ("a", "state")
    assert writes["b"].source == ("a", "pair")
    assert writes[RETURN].reads == (("b",),)
    grown = [write for write in program.writes if write.adds]
    assert [(write.name, program.functions[write.scope].name) for write in grown] == [("total", "<module>")]
    assert [program.events[event].expression for event in grown[0].values] == ["a.count"]


def test_names_for_tuples_of_names_are_constants(tmp_path: Path):
    program = read_app(tmp_path, "ERRORS = (OSError, socket.timeout)\n")
    assert program.modules["app"].constants == {"ERRORS": (("OSError",), ("socket", "timeout"))}


def test_texts_that_are_written_to_a_variable_are_known(tmp_path: Path):
    program = read_app(tmp_path, "def f(a):\n    text = 'job %s' % a\n")
    assert [write.parts for write in program.writes if write.name == "text"] == [("job ", None)]

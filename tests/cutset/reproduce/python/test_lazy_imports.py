"""Imports that are no statements: behind each, a fault in the imported module leads to the message."""

import ast
import textwrap

import pytest
from tests.samples.small_programs import graph_of

from cutset.reproduce.graph.distances import reaches
from cutset.reproduce.python.lazy_imports import absolute_name, imported_by, imports_in, lazy_names
from cutset.reproduce.python.source import read_program

MODULES = {
    "other": "def work(sock): sock.recv()",
    "lazy": "def lazy_import(scope, text): pass",
    "facade": """
        import importlib
        _NAMES = {'work': 'other'}
        def __getattr__(name):
            return getattr(importlib.import_module(_NAMES[name]), name)
        """,
    "attached": """
        import lazy_loader
        __getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={'other': ['work']})
        """,
}
IMPORTING = {
    "import in function": """
        def f(sock):
            from other import work
            try:
                work(sock)
            except OSError: log.error('lost')
    """,
    "import_module": """
        import importlib
        def f(sock):
            other = importlib.import_module('other')
            try:
                other.work(sock)
            except OSError: log.error('lost')
    """,
    "import_module relative": """
        import importlib
        def f(sock):
            try:
                importlib.import_module('other').work(sock)
            except OSError: log.error('lost')
    """,
    "__import__": """
        def f(sock):
            other = __import__('other')
            try:
                other.work(sock)
            except OSError: log.error('lost')
    """,
    "lazy import scope": """
        from lazy import lazy_import
        lazy_import(globals(), '''
        import other
        ''')
        def f(sock):
            try:
                other.work(sock)
            except OSError: log.error('lost')
    """,
    "lazy import from": """
        from lazy import lazy_import
        lazy_import(globals(), '''
        from other import (
            work,
            )
        ''')
        def f(sock):
            try:
                work(sock)
            except OSError: log.error('lost')
    """,
    "lazy module object": """
        lazy = LazyModule('other')
        def f(sock):
            try:
                lazy.work(sock)
            except OSError: log.error('lost')
    """,
    "lazy loader dict": """
        import facade
        def f(sock):
            try:
                facade.work(sock)
            except OSError: log.error('lost')
    """,
    "attach": """
        import attached
        def f(sock):
            try:
                attached.work(sock)
            except OSError: log.error('lost')
    """,
    "entry by string": """
        HANDLERS = {'a': 'other.work'}
        def f(kind, sock):
            handler = import_string(HANDLERS[kind])
            try:
                handler(sock)
            except OSError: log.error('lost')
    """,
    "import by try": """
        try:
            from fast import work
        except ImportError:
            from other import work
        def f(sock):
            try:
                work(sock)
            except OSError: log.error('lost')
    """,
}


@pytest.mark.parametrize("program", IMPORTING.values(), ids=IMPORTING)
def test_what_is_imported_late_is_followed(tmp_path, program):
    for name, text in {**MODULES, "app": program}.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    read = read_program(["app", *MODULES], [str(tmp_path)])
    assert {str(read.sites[site]) for site in reaches(graph_of(read))} >= {"other::work::sock.recv"}


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_only_a_text_of_nothing_but_imports_is_one():
    assert len(imports_in(expression("'import a, b\\nfrom c import d'"))) == 2
    assert imports_in(expression("'we import a lot'")) == []
    assert imports_in(expression("'import a\\nprint(a)'")) == []
    assert imports_in(expression("name")) == []


def test_the_module_that_a_call_imports_is_its_last_text():
    assert imported_by(expression("importlib.import_module('a.b')")) == "a.b"
    assert imported_by(expression("LazyLoader('tf', globals(), 'tensorflow.core')")) == "tensorflow.core"
    assert imported_by(expression("load('config.json')")) == ""
    assert imported_by(expression("import_module(name)")) == ""


def test_dictionaries_tell_where_names_are():
    assert ("work", "other.work") in set(lazy_names(expression("{'work': 'other'}")))
    assert ("work", "other.work") in set(lazy_names(expression("{'other': ['work']}")))
    assert ("work", "other.do") in set(lazy_names(expression("{'work': ('other', 'do')}")))


def test_a_relative_name_is_of_its_package():
    assert absolute_name(".b", "a") == "a.b"
    assert absolute_name("..c", "a.b") == "a.c"
    assert absolute_name("x.y", "a") == "x.y"

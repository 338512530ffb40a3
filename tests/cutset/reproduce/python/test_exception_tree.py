import importlib
import sys
from textwrap import dedent

import pytest

from cutset.reproduce.python.exception_tree import MESSAGE, exception_tree

PACKAGE = {
    "__init__.py": """
        from .errors import StoreError, Gone as Vanished
        from ._private import *
        Alias = Vanished
    """,
    "errors.py": """
        import socket
        from dataclasses import dataclass
        try:
            from json import JSONDecodeError
        except ImportError:
            JSONDecodeError = ValueError

        class StoreError(Exception):
            pass

        class Gone(StoreError):
            def __init__(self, message, code, *, retry_after: float, cause: BaseException):
                super().__init__(message)

        class MoreGone(Gone): ...

        class Silent(StoreError):
            def __init__(self):
                super().__init__("silent")

        class Optional(StoreError):
            def __init__(self, message=None, key=None): ...

        class Anything(StoreError):
            def __init__(self, *args, **kwargs): ...

        class Wrapper(StoreError):
            def __init__(self, statement: "str | None", params, orig: BaseException, hide: bool = False): ...

        class Template(StoreError):
            fmt = "no answer from {endpoint} for {error}"
            def __init__(self, **kwargs):
                super().__init__(self.fmt.format(**kwargs))

        class Special(Template):
            fmt = "special {thing!r}"

        class FromAnswer(StoreError):
            def __init__(self, answer, body):
                super().__init__(answer.status, body.get("code"))

        @dataclass
        class Fields(StoreError):
            path: str
            size: int
            note: str = ""

        class TimeoutError(TimeoutError): ...

        class LateTimeout(socket.timeout, StoreError): ...

        class Outer:
            class Error(Exception): ...
            class Inner(Error): ...

        class Notice(UserWarning): ...
        class Plain: ...
        class Mixed(Plain, Silent): ...
    """,
    "_private.py": """
        from store.errors import StoreError as Base
        from . import errors
        class Hidden(Base): ...
        class Busy(errors.Gone): ...
    """,
    "tests/test_x.py": "class OnlyInTests(Exception): ...",
    "broken.py": "class Broken(Exception)\n    pass",
    "old.py": "# -*- coding: latin-1 -*-\nclass Old(IOError): ...\n",
}


@pytest.fixture
def store(tmp_path):
    for name, text in PACKAGE.items():
        file = tmp_path / "store" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    return tmp_path / "store"


@pytest.fixture
def tree(store):
    return {kind.dotted: kind for kind in exception_tree(store)}


def test_exceptions_are_found_with_all_that_derive_from_them(tree):
    names = {dotted.removeprefix("store.") for dotted in tree}
    assert names >= {"errors.StoreError", "errors.MoreGone", "errors.LateTimeout", "errors.Mixed", "old.Old"}
    assert names >= {"_private.Hidden", "_private.Busy", "errors.Outer.Error", "errors.Outer.Inner"}


def test_warnings_plain_classes_tests_and_broken_files_are_left_out(tree):
    assert not any(name in dotted for dotted in tree for name in ("Notice", "Plain", "OnlyInTests", "Broken"))
    assert "store.errors.Outer" not in tree


def test_bases_are_followed_through_imports(tree):
    assert tree["store._private.Hidden"].bases == ("store.errors.StoreError",)
    assert tree["store._private.Busy"].bases == ("store.errors.Gone",)
    assert tree["store.errors.Outer.Inner"].bases == ("store.errors.Outer.Error",)
    assert tree["store.errors.TimeoutError"].bases == ("TimeoutError",)
    assert tree["store.errors.LateTimeout"].bases == ("socket.timeout", "store.errors.StoreError")


def test_other_names_of_a_class_are_known_and_the_public_one_is_preferred(tree):
    assert tree["store.errors.Gone"].aliases == ("store.Alias", "store.Vanished")
    assert tree["store._private.Hidden"].aliases == ("store.Hidden",)
    assert tree["store._private.Hidden"].public == "store.Hidden"
    assert tree["store.errors.Gone"].public == "store.errors.Gone"


@pytest.mark.parametrize(
    ("name", "arguments", "guessed"),
    [
        ("errors.StoreError", MESSAGE, 0),
        ("errors.Gone", f"{MESSAGE}, 500, retry_after=1.0, cause=Exception({MESSAGE})", 2),
        ("errors.MoreGone", f"{MESSAGE}, 500, retry_after=1.0, cause=Exception({MESSAGE})", 2),
        ("errors.Silent", "", 0),
        ("errors.Mixed", "", 0),
        ("errors.Optional", MESSAGE, 0),
        ("errors.Anything", MESSAGE, 0),
        ("errors.Wrapper", f"None, {{}}, Exception({MESSAGE})", 2),
        ("errors.Special", f"thing={MESSAGE}", 0),
        ("errors.FromAnswer", "types.SimpleNamespace(status=None), {}", 2),
        ("errors.Fields", f"{MESSAGE}, 500", 1),
    ],
)
def test_arguments_follow_from_the_constructor(tree, name, arguments, guessed):
    kind = tree[f"store.{name}"]
    assert (kind.arguments, kind.guessed) == (arguments, guessed)


def test_all_of_them_can_be_constructed_in_earnest(tree, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    try:
        for dotted, kind in tree.items():
            module = importlib.import_module(".".join(dotted.split(".")[:2]))
            names = {"store": importlib.import_module("store"), "types": importlib.import_module("types")}
            assert module.__name__ in sys.modules
            exception = eval(f"{kind.public}({kind.arguments.replace(MESSAGE, repr('gone'))})", names)
            assert isinstance(exception, Exception)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "store"]:
            del sys.modules[name]


def test_a_single_module_and_a_part_of_a_package_are_trees_too(store):
    assert [kind.dotted for kind in exception_tree(store / "old.py")] == ["store.old.Old"]
    lone = store.parent / "lone.py"
    lone.write_text("class LoneError(Exception): ...")
    assert [kind.dotted for kind in exception_tree(lone)] == ["lone.LoneError"]


def test_imports_and_bases_in_circles_are_no_trouble(tmp_path):
    (tmp_path / "ring.py").write_text("from ring import A as B\nfrom ring import B as A\nclass C(A, ValueError): ...\n")
    assert [kind.dotted for kind in exception_tree(tmp_path / "ring.py")] == ["ring.C"]
    (tmp_path / "knot.py").write_text("if 1:\n    class A(B, ValueError): ...\nelse:\n    class B(A): ...\n")
    assert [kind.arguments for kind in exception_tree(tmp_path / "knot.py")] == [MESSAGE, MESSAGE]


def test_a_folder_without_exceptions_has_an_empty_tree(tmp_path):
    (tmp_path / "a.py").write_text("x = 1")
    assert exception_tree(tmp_path) == []

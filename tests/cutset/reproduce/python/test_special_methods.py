"""Code that runs without being called: behind each way, a fault in it leads to the message."""

import pytest
from tests.samples.small_programs import distances_in

from cutset.reproduce.python.special_methods import implicit_names, ways_of

IMPLICIT = {
    "with": """
        class Lock:
            def __enter__(self): self.sock.recv()
            def __exit__(self, *a): pass
        def f(lock):
            try:
                with lock: pass
            except OSError: log.error('lost')
    """,
    "with attribute of self": """
        class Lock:
            def __enter__(self): pass
            def __exit__(self, *a): self.sock.recv()
        class A:
            def __init__(self, lock): self.lock = lock
            def f(self):
                try:
                    with self.lock: pass
                except OSError: log.error('lost')
    """,
    "with call of unknown": """
        class Lock:
            def __enter__(self): self.sock.recv()
            def __exit__(self, *a): pass
        def f(factory):
            try:
                with factory.lock(): pass
            except OSError: log.error('lost')
    """,
    "with contextmanager": """
        import contextlib
        @contextlib.contextmanager
        def session(sock):
            sock.recv()
            yield 1
        def f(sock):
            try:
                with session(sock): pass
            except OSError: log.error('lost')
    """,
    "with contextmanager method": """
        import contextlib
        class A:
            @contextlib.contextmanager
            def session(self, sock):
                sock.recv()
                yield 1
        def f(a, sock):
            try:
                with a.session(sock) as s: pass
            except OSError: log.error('lost')
    """,
    "async with": """
        class Lock:
            async def __aenter__(self): await self.sock.recv()
            async def __aexit__(self, *a): pass
        async def f(lock):
            try:
                async with lock: pass
            except OSError: log.error('lost')
    """,
    "iteration": """
        class Rows:
            def __iter__(self): return self
            def __next__(self): return self.sock.recv()
        def f(rows):
            try:
                for row in rows: pass
            except OSError: log.error('lost')
    """,
    "iteration generator iter": """
        class Rows:
            def __iter__(self):
                while True: yield self.sock.recv()
        def f():
            rows = Rows()
            try:
                for row in rows: pass
            except OSError: log.error('lost')
    """,
    "iteration of generator in variable": """
        def rows(sock):
            while True: yield sock.recv()
        def f(sock):
            it = rows(sock)
            try:
                for row in it: pass
            except OSError: log.error('lost')
    """,
    "iteration by list": """
        class Rows:
            def __iter__(self):
                while True: yield self.sock.recv()
        def f(rows):
            try:
                return list(rows)
            except OSError: log.error('lost')
    """,
    "iteration by next": """
        class Rows:
            def __next__(self): return self.sock.recv()
        def f(rows):
            try:
                return next(rows)
            except OSError: log.error('lost')
    """,
    "enumerate": """
        class Rows:
            def __iter__(self):
                while True: yield self.sock.recv()
        def f(rows: Rows):
            try:
                for n, row in enumerate(rows): pass
            except OSError: log.error('lost')
    """,
    "len": """
        class Log:
            def __len__(self): return self.sock.recv()
        def f(x):
            try:
                return len(x)
            except OSError: log.error('lost')
    """,
    "str": """
        class Log:
            def __str__(self): return self.sock.recv()
        def f(x):
            try:
                return str(x)
            except OSError: log.error('lost')
    """,
    "hash as key": """
        class Log:
            def __hash__(self): return self.sock.recv()
        def f(x: Log):
            try:
                return hash(x)
            except OSError: log.error('lost')
    """,
    "call of object": """
        class Log:
            def __call__(self, n): return self.sock.recv()
        class A:
            def __init__(self): self.x = Log()
            def f(self):
                try:
                    return self.x(1)
                except OSError: log.error('lost')
    """,
    "property": """
        class A:
            @property
            def work(self): return self.sock.recv()
        def f(a):
            try:
                return a.work
            except OSError: log.error('lost')
    """,
    "cached property": """
        from functools import cached_property
        class A:
            @cached_property
            def work(self): return self.sock.recv()
        def f(a):
            try:
                return a.work.x
            except OSError: log.error('lost')
    """,
    "property function": """
        class A:
            def _get(self): return self.sock.recv()
            work = property(_get)
        def f(a):
            try:
                return a.work
            except OSError: log.error('lost')
    """,
    "getattr method": """
        class A:
            def __getattr__(self, name): return self.sock.recv()
        def f(a: A):
            try:
                return a.anything
            except OSError: log.error('lost')
    """,
    "getattr method call": """
        class A:
            def __getattr__(self, name): return self.sock.recv()
        def f():
            a = A()
            try:
                return a.anything(1)
            except OSError: log.error('lost')
    """,
    "descriptor": """
        class Field:
            def __get__(self, obj, owner): return obj.sock.recv()
        class A:
            field = Field()
            def f(self):
                try:
                    return self.field
                except OSError: log.error('lost')
    """,
    "setattr method": """
        class A:
            def __setattr__(self, name, value): self.sock.recv()
        def f():
            a = A()
            try:
                a.x = 1
            except OSError: log.error('lost')
    """,
}


@pytest.mark.parametrize("program", IMPLICIT.values(), ids=IMPLICIT)
def test_what_runs_without_being_called_is_followed(tmp_path, program):
    found = distances_in(tmp_path, program)
    assert any("recv" in site and "lost" in reached for site, reached in found.items())


def test_an_object_that_may_be_of_many_classes_is_of_those_that_sound_like_it(tmp_path):
    classes = "".join(f"class C{number}:\n    def __len__(self): return self.sock.recv()\n" for number in range(9))
    program = f"""
{classes}
class Basket:
    def __len__(self): return self.sock.peek()
def f(basket, x):
    try:
        len(x)
        len(basket)
    except OSError: log.error('lost')
"""
    assert {site for site, reached in distances_in(tmp_path, program).items() if "lost" in reached} == {
        "Basket.__len__::self.sock.peek"
    }


def test_implicit_names_are_those_of_properties_descriptors_and_special_methods():
    text = """
class Field:
    def __get__(self, obj, owner): ...
class A:
    size = Field()
    plain = Other()
    old = property(_old)
    @functools.cached_property
    def data(self): ...
    def method(self): ...
    def __len__(self): ...
"""
    assert implicit_names([text]) == {"__get__", "size", "old", "data", "__len__"}


def test_a_class_without_a_special_method_may_have_one_that_does_as_well():
    assert ways_of("__format__") == ("__format__", "__str__", "__repr__")
    assert ways_of("__len__") == ("__len__",)

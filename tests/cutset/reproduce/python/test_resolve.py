import pytest
from tests.samples.small_programs import callees_of, distances_in, read_package, sites_of


def test_an_unknown_receiver_may_be_analysed_code_or_not(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class Pool:
            def take(self, n): pass
        class Other:
            def take(self): pass
        def f(pool):
            pool.take(1)
        """,
    )
    assert callees_of(program, "pool.take") == {"Pool.take"}  # the other does not accept an argument
    assert sites_of(program) == ["m::f::pool.take"]


@pytest.mark.parametrize(
    "body",
    [
        "def f():\n    p = Pool()\n    p.take()",
        "def f(p: Pool):\n    p.take()",
        "def f(p: 'Pool | None'):\n    p.take()",
        "def make() -> Pool: ...\ndef f():\n    make().take()",
        "class A:\n    def __init__(self): self.p = Pool()\n    def f(self): self.p.take()",
        "class A:\n    p: Pool\n    def f(self): self.p.take()",
        "class A(Pool):\n    def f(self): self.take()",
        "class A(Pool):\n    def f(self): super().take()",
        "def f():\n    Pool.take(None)",
        "POOL = Pool()\ndef f():\n    POOL.take()",
    ],
)
def test_a_receiver_whose_class_the_source_says_is_resolved_for_sure(tmp_path, body):
    program = read_package(tmp_path, m=f"class Pool:\n    def take(self): pass\n{body}\n")
    taken = [index for index, event in enumerate(program.events) if event.chain[-1:] == ("take",)]
    assert [program.functions[one].name for one in program.callees[taken[0]]] == ["Pool.take"]
    assert sites_of(program) == []


def test_a_method_that_only_a_base_from_outside_has_leaves(tmp_path):
    program = read_package(
        tmp_path, m="import threading\nclass T(threading.Thread):\n    def f(self):\n        self.join()\n"
    )
    assert sites_of(program) == ["m::T.f::self.join"]


def test_overrides_in_subclasses_are_callees(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class A:
            def go(self): self.step()
            def step(self): pass
        class B(A):
            def step(self): pass
        """,
    )
    assert callees_of(program, "self.step") == {"A.step", "B.step"}


def test_methods_of_mixins_are_found_through_the_classes_that_mix_them_in(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class Server:
            def go(self): self.handle()
            def handle(self): pass
        class Threads:
            def handle(self): self.finish()
        class Both(Threads, Server):
            def finish(self): pass
        """,
    )
    assert callees_of(program, "self.handle") == {"Server.handle", "Threads.handle"}
    assert callees_of(program, "self.finish") == {"Both.finish"}


def test_classes_that_are_handed_around_are_constructed(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class Handler:
            def __init__(self): open('x')
        class Server:
            default = Handler
            def __init__(self, kind): self.kind = kind
            def f(self):
                self.kind()
                self.default()
        def g():
            Server(Handler)
        """,
    )
    assert callees_of(program, "self.kind") == callees_of(program, "self.default") == {"Handler.__init__"}


def test_imports_are_followed_through_other_modules(tmp_path):
    program = read_package(
        tmp_path,
        deep="class E(Exception): pass\ndef go(): pass\n",
        between="from .deep import go as run, E\nfrom app.deep import *\n",
        m="""
        from . import between
        from .between import run, E
        def f():
            run()
            between.go()
            try:
                open('x')
            except (between.E, OSError):
                pass
        """,
    )
    assert callees_of(program, "run") == callees_of(program, "between.go") == {"go"}
    assert [guard.types for guard in program.guards if guard.types] == [("app.deep.E", "OSError")]


def test_names_for_tuples_of_exceptions_are_what_they_stand_for(tmp_path):
    program = read_package(
        tmp_path,
        errors="import socket\nRETRY = (OSError, socket.timeout)\n",
        m="from .errors import RETRY\ndef f(x):\n    try:\n        x()\n    except RETRY:\n        pass\n",
    )
    assert [guard.types for guard in program.guards] == [("OSError", "socket.timeout")]


@pytest.mark.parametrize(
    "start",
    [
        "threading.Thread(target=work).start()",
        "pool.submit(work)",
        "pool.submit(functools.partial(work, 1))",
        "loop.call_soon(lambda: work())",
        "future.add_done_callback(work)",
        "signal.signal(15, work)",
    ],
)
def test_functions_that_are_started_elsewhere_are_known(tmp_path, start):
    program = read_package(
        tmp_path,
        m=f"import functools, signal, threading\ndef work(*a): pass\ndef f(pool, loop, future):\n    {start}\n",
    )
    started = {program.functions[one].name for starts in program.starts for one in starts}
    assert started in ({"work"}, {"f.<lambda>"})


def test_a_thread_class_is_run_by_start(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        import threading
        class T(threading.Thread):
            def run(self): pass
        def f():
            t = T()
            t.start()
        """,
    )
    assert {program.functions[one].name for starts in program.starts for one in starts} == {"T.run"}


def test_a_task_is_started_where_it_is_made_and_joined_where_it_is_awaited(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        import asyncio
        async def work(): pass
        async def f():
            task = asyncio.create_task(work())
            await task
        """,
    )
    rows = {event.expression: index for index, event in enumerate(program.events)}
    work = [index for index, function in enumerate(program.functions) if function.name == "work"]
    assert list(program.starts[rows["asyncio.create_task"]]) == work
    assert list(program.callees[rows["work"]]) == []
    assert list(program.joins[rows["await task"]]) == work


def test_functions_reach_the_calls_of_parameters_attributes_and_decorators(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        def retry(do):
            return do()
        def wrapped(fn):
            def wrapper():
                return fn()
            return wrapper
        @wrapped
        def decorated(): pass
        class A:
            def __init__(self, callback): self.callback = callback
            def fire(self): self.callback()
        def work(): pass
        def f():
            retry(work)
            A(work)
            decorated()
        """,
    )
    assert callees_of(program, "do") == {"work"}
    assert callees_of(program, "fn") == {"decorated"}
    assert callees_of(program, "self.callback") == {"work"}
    assert callees_of(program, "decorated") == {"decorated", "wrapped.wrapper"}


def test_another_name_for_a_function_is_the_function(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        def work(): pass
        same = work
        class A:
            def __init__(self): self.do = self.step
            def step(self): pass
            def f(self):
                same()
                mine = work
                mine()
                self.do()
        """,
    )
    assert callees_of(program, "same") == callees_of(program, "mine") == {"work"}
    assert callees_of(program, "self.do") == {"A.step"}
    assert sites_of(program) == ["m::A.f::self.do"]


def test_writing_a_property_runs_its_setter(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class A:
            @property
            def x(self): pass
            @x.setter
            def x(self, value): open(value)
            def f(self): self.x = 1
        """,
    )
    assert callees_of(program, "self.x") == {"A.x"}


def test_reading_a_property_runs_it(tmp_path):
    program = read_package(
        tmp_path,
        m="class A:\n    @property\n    def data(self): return open('x')\n    def f(self): return self.data + 1\n",
    )
    assert callees_of(program, "self.data") == {"A.data"}


def test_awaited_calls_prefer_coroutines(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class A:
            def get(self): pass
        class B:
            async def get(self): pass
        async def f(x):
            await x.get()
        """,
    )
    assert callees_of(program, "x.get") == {"B.get"}


THROUGH_CLASSES = {
    "super": """
        class Base:
            def work(self, sock): sock.recv()
        class A(Base):
            def work(self, sock): super().work(sock)
            def f(self, sock):
                try:
                    self.work(sock)
                except OSError: log.error('lost')
    """,
    "super with arguments": """
        class Base:
            def work(self, sock): sock.recv()
        class A(Base):
            def go(self, sock):
                try:
                    super(A, self).work(sock)
                except OSError: log.error('lost')
    """,
    "super of mixin": """
        class Base:
            def work(self, sock): sock.recv()
        class Mixin:
            def work(self, sock):
                try:
                    super().work(sock)
                except OSError: log.error('lost')
        class A(Mixin, Base): pass
    """,
    "class attribute": """
        class Stream:
            def work(self, n): return self.sock.recv(n)
        class A:
            stream_class = Stream
            def f(self):
                stream = self.stream_class()
                try:
                    stream.work(1)
                except OSError: log.error('lost')
    """,
    "class attribute function": """
        def work(sock): sock.recv()
        class A:
            handler = staticmethod(work)
            def f(self, sock):
                try:
                    self.handler(sock)
                except OSError: log.error('lost')
    """,
    "type self": """
        class A:
            @classmethod
            def work(cls, sock): sock.recv()
            def f(self, sock):
                try:
                    type(self).work(sock)
                    self.__class__.work(sock)
                except OSError: log.error('lost')
    """,
}


@pytest.mark.parametrize("program", THROUGH_CLASSES.values(), ids=THROUGH_CLASSES)
def test_calls_through_classes_and_bases_are_followed(tmp_path, program):
    found = distances_in(tmp_path, program)
    assert any("recv" in site and "lost" in reached for site, reached in found.items())


def test_a_call_of_a_base_does_not_lead_to_what_overrides_it(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class Base:
            def go(self): pass
        class A(Base):
            def go(self): super().go()
        class B(Base):
            def go(self): pass
        """,
    )
    assert callees_of(program, "super().go") == {"Base.go"}


def test_a_call_without_an_object_that_is_named_start_starts_nothing(tmp_path):
    program = read_package(tmp_path, m="def f(start):\n    start()\n")
    assert program.starts == ((),)

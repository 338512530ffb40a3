import email
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_package, sites_of

from cutset.errors import InputError
from cutset.model.reproduction.site import SiteKind
from cutset.reproduce.python.escapes import handlers_around
from cutset.reproduce.python.source import find_files, read_program


def test_calls_that_leave_are_sites_and_calls_inside_are_not(tmp_path):
    program = read_package(tmp_path, m="import os\ndef f():\n    g()\n    os.fork()\ndef g(): open('x')\n")
    assert sites_of(program) == ["m::f::os.fork", "m::g::open"]
    assert program.resolved[program.site_events[0]] == "os.fork"


def test_equal_calls_are_numbered_outer_before_inner_in_order_of_appearance(tmp_path):
    program = read_package(tmp_path, m="def f(a):\n    a.x(a.x(1), k=a.x)\n    return [a.x(i) for i in a.x()]\n")
    assert [(str(site), site.column) for site in program.sites] == [
        ("app.m::f::a.x", 4),
        ("app.m::f::a.x#1", 8),
        ("app.m::f::a.x#2", 12),
        ("app.m::f::a.x#3", 28),
    ]


def test_expressions_are_on_one_line_and_receivers_that_are_calls_are_written_out(tmp_path):
    program = read_package(tmp_path, m="def f(url):\n    return urlopen(url,\n        1).read()\n")
    assert sites_of(program) == ["m::f::urlopen(url, 1).read", "m::f::urlopen"]
    assert (program.sites[0].line, program.sites[0].end_line, program.sites[0].end_column) == (2, 3, 17)


def test_names_of_nested_functions_classes_and_lambdas(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class A:
            class B:
                def f(self):
                    def g():
                        return send()
                    return lambda: send()
        late = lambda: send()
        """,
    )
    assert sites_of(program) == ["m::A.B.f.g::send", "m::A.B.f::send", "m::<lambda>::send"]


def test_getter_and_setter_of_one_name_share_their_numbers(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        class A:
            @property
            def x(self): return send(1)
            @x.setter
            def x(self, value): send(value)
        """,
    )
    assert sites_of(program) == ["m::A.x::send", "m::A.x::send#1"]


def test_code_that_runs_on_import_has_no_sites(tmp_path):
    program = read_package(
        tmp_path, m="import os\nos.fork()\nclass A:\n    x = os.getenv('a')\ndef f(a=os.fork()): pass\n"
    )
    assert sites_of(program) == []


def test_awaiting_what_is_no_call_is_a_site_and_an_awaited_call_is_one_site(tmp_path):
    program = read_package(tmp_path, m="async def f(future):\n    await future\n    await future.x()\n")
    assert [(str(site), site.kind) for site in program.sites] == [
        ("app.m::f::await future", SiteKind.AWAIT),
        ("app.m::f::future.x", SiteKind.CALL),
    ]


def test_raises_are_sites_unless_a_handler_passes_its_exception_on(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        def f(x):
            if x:
                raise ValueError('no')
            raise KeyError
        def g(x):
            try:
                x.go()
            except OSError as error:
                raise RuntimeError('x') from error
            except KeyError:
                raise
            except ValueError as again:
                raise again
        def h(error):
            raise error
        def i():
            raise NotImplementedError
        """,
    )
    assert sites_of(program) == ["m::f::raise ValueError", "m::f::raise KeyError", "m::g::x.go"]


def test_calls_that_only_a_mistake_makes_fail_are_no_sites(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        import logging, time, functools
        log = logging.getLogger(__name__)
        def f(x):
            log.info('a %s', len(x))
            functools.partial(x, time.monotonic())
            return ', '.join(sorted(x)) + x.name.strip().lower()
        """,
    )
    assert sites_of(program) == []


def test_drivers_are_read_but_get_no_faults(tmp_path):
    (tmp_path / "drive.py").write_text("def main():\n    open('x')\n")
    (tmp_path / "lib.py").write_text("def f():\n    open('y')\n")
    program = read_program(["lib"], [str(tmp_path)], [str(tmp_path / "drive.py")])
    assert [str(site) for site in program.sites] == ["lib::f::open"]
    assert "main" in [function.name for function in program.functions]


def test_files_that_do_not_parse_are_skipped_and_counted(tmp_path):
    program = read_package(tmp_path, good="def f(): open('x')\n", bad="print 'old'\n", odd="# coding: nonsense\n")
    assert sites_of(program) == ["good::f::open"]
    assert sorted(Path(skipped.path).name for skipped in program.skipped) == ["bad.py", "odd.py"]


def test_very_long_expressions_are_read(tmp_path):
    program = read_package(tmp_path, m=f"def f(a):\n    return {'a.x() + ' * 2000} 0\n")
    assert len(program.sites) == 2000 or program.skipped


def test_odd_but_valid_source_is_read(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        from . import *
        from .. import nothing
        global x
        def f(a, /, b=1, *c, d: 'int' = 2, **e) -> 'no [ annotation':
            match a.kind():
                case {'k': [1, *rest], **more} if a.ok(): return a.first()
                case str() | None: pass
            [x, *y], z.w[a.k()] = a
            async def g():
                async with a as (b, c), b: yield await a
                async for i in a.s(): yield i
                return
            try: del a[a.x()], a.y
            except* (ValueError, *e): raise
            while (n := a.n()) and n: break
            else: a.e()
            return lambda q=a.z(): (yield)
        class C(metaclass=M, k=1):
            def __call__(self): return self()()
        """,
    )
    assert program.skipped == ()
    assert {"m::f::a.kind", "m::f::a.ok", "m::f::a.k", "m::f.g::a.s", "m::f::a.n", "m::f::a.z"} <= set(
        sites_of(program)
    )


def test_sources_are_found_by_name_and_by_path(tmp_path):
    program = read_package(tmp_path, m="")
    assert sorted(program.modules) == ["app", "app.m"]
    assert find_files(str(tmp_path / "app" / "m.py"), []) == [("app.m", tmp_path / "app" / "m.py")]
    assert [name for name, _ in find_files(f"{tmp_path}/app", [])] == ["app", "app.m"]
    with pytest.raises(InputError, match="nothing_here"):
        find_files("nothing_here", [str(tmp_path)])
    with pytest.raises(InputError, match="no source at"):
        find_files("./nothing/here.py", [])


def test_namespace_packages_are_found_in_all_their_parts_and_named_as_an_import_does(tmp_path):
    for name in ("one/ns/deep/outbox.py", "one/ns/deep/er/inbox.py", "two/ns/other.py", "two/ns/deep/outbox.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("def f(): open('x')\n")
    one, two = tmp_path / "one", tmp_path / "two"

    assert find_files("ns", [str(one), str(two)]) == [
        ("ns.deep.er.inbox", one / "ns/deep/er/inbox.py"),
        ("ns.deep.outbox", one / "ns/deep/outbox.py"),
        ("ns.other", two / "ns/other.py"),
    ]
    assert [name for name, _ in find_files(f"{one}/ns", [str(one)])] == ["ns.deep.er.inbox", "ns.deep.outbox"]
    (two / "ns.py").touch()
    assert find_files("ns", [str(one), str(two)]) == [("ns", two / "ns.py")]


def test_the_current_folder_is_no_part_of_a_name(tmp_path, monkeypatch):
    (tmp_path / "ns/deep").mkdir(parents=True)
    (tmp_path / "ns/deep/outbox.py").write_text("def f(): open('x')\n")
    monkeypatch.chdir(tmp_path)

    program = read_program(["."], [str(tmp_path)])

    assert [str(site) for site in program.sites] == ["ns.deep.outbox::f::open"]


def test_handlers_around_a_site_come_innermost_first_then_those_of_callers(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        def f(sock):
            try:
                try:
                    sock.recv()
                except TimeoutError:
                    pass
            except OSError:
                pass
        def g(sock):
            try:
                f(sock)
            except ValueError:
                pass
        """,
    )
    assert handlers_around(program) == [("TimeoutError", "OSError", "ValueError")]


_STATEMENTS = [
    "a.send()",
    "x = [a.get(i) for i in a.all() if a.ok(i)]",
    "with a.lock: a.close()",
    "try:\n        a.go()\n    except OSError as e:\n        raise ValueError(a.text()) from e",
    "try:\n        a.go()\n    finally:\n        a.end()",
    "while a.more(): a.step()",
    "if a.bad(): raise RuntimeError('x')",
    "return a.ok() and a.fine() or (lambda: a.late())",
]


@given(
    st.lists(st.sampled_from(_STATEMENTS), max_size=5), st.lists(st.sampled_from(_STATEMENTS), min_size=1, max_size=5)
)
def test_adding_code_never_removes_a_site(tmp_path_factory, before, added):
    folder = tmp_path_factory.mktemp("grown")
    old = "def f(a):\n    pass\n" + "".join(f"    {statement}\n" for statement in before)
    new = old + "".join(f"    {statement}\n" for statement in added)
    new += "class Fresh:\n    def send(self): pass\n    def go(self): a.go()\n"
    assert set(sites_of(read_package(folder, m=old))) <= set(sites_of(read_package(folder, m=new)))


def test_a_large_package_is_read_whole():
    folder = Path(email.__file__).parent
    program = read_program([str(folder)], [])
    assert program.skipped == ()
    assert len({str(site) for site in program.sites}) == len(program.sites) > 100


def test_who_watches_is_told_of_every_file_and_can_stop_it(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("def f(a):\n    a.go()\n")
    told: list[tuple[int, int, str]] = []
    read_program(["one", "two"], [str(tmp_path)], progress=lambda *said: told.append(said))
    assert [(done, total) for done, total, what in told if what == "reading the source"] == [(0, 2), (1, 2)]

    def stop(done: int, total: int, what: str) -> None:
        raise InterruptedError(what)

    with pytest.raises(InterruptedError):
        read_program(["one", "two"], [str(tmp_path)], progress=stop)

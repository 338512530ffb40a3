"""Ways in which functions get to where they are called: behind each, a fault in `work` leads to the message."""

import pytest
from tests.samples.small_programs import callees_of, distances_in, read_app, read_package

HANDED = {
    "dispatch dict literal": """
        class A:
            def work(self, sock): sock.recv()
            def f(self, kind, sock):
                try:
                    {'a': self.work}[kind](sock)
                except OSError: log.error('lost')
    """,
    "module table": """
        def work(sock): sock.recv()
        HANDLERS = {'a': work}
        def f(kind, sock):
            try:
                HANDLERS[kind](sock)
            except OSError: log.error('lost')
    """,
    "module table get": """
        def work(sock): sock.recv()
        HANDLERS = {'a': work}
        def f(kind, sock):
            handler = HANDLERS.get(kind)
            try:
                handler(sock)
            except OSError: log.error('lost')
    """,
    "table filled by subscripts": """
        def work(sock): sock.recv()
        HANDLERS = {}
        HANDLERS['a'] = work
        def f(kind, sock):
            try:
                HANDLERS[kind](sock)
            except OSError: log.error('lost')
    """,
    "attribute table": """
        class A:
            def __init__(self): self.handlers = {'a': self.work}
            def work(self, sock): sock.recv()
            def f(self, kind, sock):
                handler = self.handlers[kind]
                try:
                    handler(sock)
                except OSError: log.error('lost')
    """,
    "attribute table filled": """
        class A:
            def __init__(self):
                self.handlers = {}
                self.handlers['a'] = self.work
            def work(self, sock): sock.recv()
            def f(self, kind, sock):
                try:
                    self.handlers[kind](sock)
                except OSError: log.error('lost')
    """,
    "class table": """
        class A:
            def work(self, sock): sock.recv()
            handlers = {'a': work}
            def f(self, kind, sock):
                try:
                    self.handlers[kind](self, sock)
                except OSError: log.error('lost')
    """,
    "dict call table": """
        def work(sock): sock.recv()
        HANDLERS = dict(a=work)
        def f(kind, sock):
            try:
                HANDLERS[kind](sock)
            except OSError: log.error('lost')
    """,
    "table of tuples": """
        def work(sock): sock.recv()
        HANDLERS = {'a': (1, work), 'b': (2, work)}
        def f(kind, sock):
            level, handler = HANDLERS[kind]
            try:
                handler(sock)
            except OSError: log.error('lost')
    """,
    "imported table": """
        import table
        class A: pass
        def work(sock): sock.recv()
        table.HANDLERS['a'] = work
        def f(kind, sock):
            try:
                table.HANDLERS[kind](sock)
            except OSError: log.error('lost')
    """,
    "getattr concatenation": """
        class A:
            def on_work(self, sock): sock.recv()
            def f(self, kind, sock):
                try:
                    getattr(self, 'on_' + kind)(sock)
                except OSError: log.error('lost')
    """,
    "getattr f-string in variable": """
        class A:
            def on_work(self, sock): sock.recv()
            def f(self, kind, sock):
                method = getattr(self, f'on_{kind}', None)
                try:
                    method(sock)
                except OSError: log.error('lost')
    """,
    "getattr percent": """
        class A:
            def visit_work(self, sock): sock.recv()
            def f(self, kind, sock):
                method = 'visit_%s' % kind
                visitor = getattr(self, method)
                try:
                    visitor(sock)
                except OSError: log.error('lost')
    """,
    "getattr constant": """
        class A:
            def work(self, sock): sock.recv()
        def f(a, sock):
            try:
                getattr(a, 'work')(sock)
            except OSError: log.error('lost')
    """,
    "registering decorator with name": """
        REGISTRY = {}
        def register(name):
            def wrap(fn):
                REGISTRY[name] = fn
                return fn
            return wrap
        @register('a')
        def work(sock): sock.recv()
        def f(kind, sock):
            try:
                REGISTRY[kind](sock)
            except OSError: log.error('lost')
    """,
    "registering method decorator": """
        class Registry:
            def __init__(self): self.tasks = {}
            def register(self, name):
                def wrap(fn):
                    self.tasks[name] = fn
                    return fn
                return wrap
            def run(self, name, sock):
                return self.tasks[name](sock)
        registry = Registry()
        @registry.register('a')
        def work(sock): sock.recv()
        def f(kind, sock):
            try:
                registry.run(kind, sock)
            except OSError: log.error('lost')
    """,
    "registering decorator lambda": """
        class Registry:
            def __init__(self): self.tasks = {}
            def task(self, fn=None, **options):
                if fn is None:
                    return lambda fn: self.add(fn, **options)
                return self.add(fn)
            def add(self, fn):
                self.tasks[fn.__name__] = fn
                return fn
            def run(self, name, sock):
                task = self.tasks[name]
                return task(sock)
        app = Registry()
        @app.task
        def work(sock): sock.recv()
        def f(kind, sock):
            try:
                app.run(kind, sock)
            except OSError: log.error('lost')
    """,
    "external decorator": """
        from celery import Celery
        app = Celery()
        @app.task(bind=True)
        def work(self, sock): sock.recv()
        def f(kind, sock):
            try:
                work.delay(sock)
            except OSError: log.error('lost')
    """,
    "callbacks list": """
        class A:
            def __init__(self): self.callbacks = []
            def add(self, fn): self.callbacks.append(fn)
            def fire(self, sock):
                for fn in self.callbacks:
                    try:
                        fn(sock)
                    except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.add(work)
    """,
    "callbacks list comprehension": """
        class A:
            def __init__(self): self.callbacks = []
            def add(self, fn): self.callbacks.append(fn)
            def fire(self, sock):
                try:
                    [fn(sock) for fn in self.callbacks]
                except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.add(work)
    """,
    "callbacks with arguments": """
        class A:
            def __init__(self): self.callbacks = []
            def add(self, fn, *args): self.callbacks.append((fn, args))
            def fire(self, sock):
                for fn, args in self.callbacks:
                    try:
                        fn(sock)
                    except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.add(work)
    """,
    "callbacks by event": """
        from collections import defaultdict
        class A:
            def __init__(self): self.callbacks = defaultdict(list)
            def on(self, event, fn): self.callbacks[event].append(fn)
            def fire(self, event, sock):
                for fn in list(self.callbacks[event]):
                    try:
                        fn(sock)
                    except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.on('x', work)
    """,
    "callbacks items": """
        class A:
            def __init__(self): self.hooks = {}
            def on(self, event, fn): self.hooks.setdefault(event, []).append(fn)
            def fire(self, event, sock):
                for name, fns in self.hooks.items():
                    for fn in fns:
                        try:
                            fn(sock)
                        except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.on('x', work)
    """,
    "queue of callables": """
        import queue
        class A:
            def __init__(self): self.jobs = queue.Queue()
            def add(self, fn): self.jobs.put(fn)
            def loop(self, sock):
                while True:
                    job = self.jobs.get()
                    try:
                        job(sock)
                    except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.add(work)
    """,
    "deque of partials": """
        import collections, functools
        class A:
            def __init__(self): self.jobs = collections.deque()
            def add(self, fn): self.jobs.append(functools.partial(fn, 1))
            def loop(self):
                job = self.jobs.popleft()
                try:
                    job()
                except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(a): a.add(work)
    """,
    "handle object": """
        class Handle:
            def __init__(self, fn, args): self._fn, self._args = fn, args
            def run(self):
                try:
                    self._fn(*self._args)
                except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(sock): Handle(work, (sock,)).run()
    """,
    "attribute keyword": """
        class A:
            def __init__(self, *, on_read=None): self.on_read = on_read
            def f(self, sock):
                try:
                    if self.on_read: self.on_read(sock)
                except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main(): A(on_read=work)
    """,
    "attribute set from outside": """
        class A:
            on_read = None
            def f(self, sock):
                try:
                    self.on_read(sock)
                except OSError: log.error('lost')
        def work(sock): sock.recv()
        def main():
            a = A()
            a.on_read = work
    """,
    "attribute or default": """
        def work(sock): sock.recv()
        class A:
            def __init__(self, on_read=None): self.on_read = on_read or work
            def f(self, sock):
                try:
                    self.on_read(sock)
                except OSError: log.error('lost')
    """,
    "conditional function": """
        def work(sock): sock.recv()
        def other(sock): pass
        def f(flag, sock):
            handler = work if flag else other
            try:
                handler(sock)
            except OSError: log.error('lost')
    """,
    "partial local": """
        import functools
        def work(sock): sock.recv()
        def f(sock):
            call = functools.partial(work, sock)
            try:
                call()
            except OSError: log.error('lost')
    """,
    "partial attribute": """
        from functools import partial
        def work(sock): sock.recv()
        class A:
            def __init__(self, sock): self.call = partial(work, sock)
            def f(self):
                try:
                    self.call()
                except OSError: log.error('lost')
    """,
    "lambda local": """
        def work(sock): sock.recv()
        def f(sock):
            call = lambda: work(sock)
            try:
                call()
            except OSError: log.error('lost')
    """,
    "lambda attribute": """
        def work(sock): sock.recv()
        class A:
            def __init__(self, sock): self.call = lambda: work(sock)
            def f(self):
                try:
                    self.call()
                except OSError: log.error('lost')
    """,
    "thread target": """
        import threading
        class A:
            def work(self, sock):
                self.dead = False
                try: sock.recv()
                except OSError: self.dead = True
            def f(self, sock):
                threading.Thread(target=self.work, args=(sock,)).start()
                if self.dead: log.error('lost')
    """,
    "call_soon": """
        class A:
            def work(self, sock):
                try: sock.recv()
                except OSError: log.error('lost')
            def f(self, loop, sock): loop.call_soon(self.work, sock)
    """,
    "executor submit result": """
        def work(sock): sock.recv()
        def f(pool, sock):
            future = pool.submit(work, sock)
            try:
                future.result()
            except OSError: log.error('lost')
    """,
    "executor map": """
        def work(sock): sock.recv()
        def f(pool, socks):
            try:
                for x in pool.map(work, socks): pass
            except OSError: log.error('lost')
    """,
    "function argument": """
        def work(sock): sock.recv()
        def retry(fn, *args):
            for _ in range(3):
                try:
                    return fn(*args)
                except OSError: log.error('lost')
        def f(sock): retry(work, sock)
    """,
    "function through three hands": """
        def work(sock): sock.recv()
        def a(fn): b(fn)
        def b(fn): c(fn)
        def c(fn): d(fn)
        def d(fn):
            try:
                return fn()
            except OSError: log.error('lost')
        def f(sock): a(work)
    """,
    "function in kwargs options": """
        def work(sock): sock.recv()
        class A:
            def __init__(self, **options):
                self.options = options
            def f(self, sock):
                try:
                    self.options['on_read'](sock)
                except OSError: log.error('lost')
        def main(): A(on_read=work)
    """,
    "star args passed": """
        def work(sock): sock.recv()
        def run(*jobs):
            for job in jobs:
                try:
                    job()
                except OSError: log.error('lost')
        def main(): run(work, work)
    """,
    "returned function": """
        def work(sock): sock.recv()
        def choose(kind):
            if kind: return work
            return None
        def f(kind, sock):
            handler = choose(kind)
            try:
                handler(sock)
            except OSError: log.error('lost')
    """,
    "returned function called at once": """
        def work(sock): sock.recv()
        def choose(kind): return work
        def f(kind, sock):
            try:
                choose(kind)(sock)
            except OSError: log.error('lost')
    """,
    "returned closure": """
        def make(sock):
            def work(): sock.recv()
            return work
        def f(sock):
            do = make(sock)
            try:
                do()
            except OSError: log.error('lost')
    """,
    "returned from table method": """
        class A:
            def __init__(self): self.handlers = {'x': self.work}
            def work(self, sock): sock.recv()
            def handler(self, kind): return self.handlers.get(kind)
            def f(self, kind, sock):
                try:
                    self.handler(kind)(sock)
                except OSError: log.error('lost')
    """,
    "class in table": """
        class Work:
            def __init__(self, sock): sock.recv()
        KINDS = {'w': Work}
        def f(kind, sock):
            try:
                KINDS[kind](sock)
            except OSError: log.error('lost')
    """,
    "method of class in table": """
        class Work:
            def go(self, sock): sock.recv()
        KINDS = {'w': Work}
        def f(kind, sock):
            worker = KINDS[kind]()
            try:
                worker.go(sock)
            except OSError: log.error('lost')
    """,
    "local name for method": """
        class Stream:
            def work(self, n): return self.sock.recv(n)
        class A:
            def __init__(self): self.stream = Stream()
            def f(self):
                read = self.stream.work
                try:
                    read(1)
                except OSError: log.error('lost')
    """,
    "local name for method of unknown": """
        class Stream:
            def work(self, n): return self.sock.recv(n)
        class A:
            def __init__(self, stream): self.stream = stream
            def f(self):
                read = self.stream.work
                try:
                    read(1)
                except OSError: log.error('lost')
    """,
    "local name in tuple": """
        class Stream:
            def work(self, n): return self.sock.recv(n)
        class A:
            def __init__(self): self.stream = Stream()
            def f(self):
                read, limit = self.stream.work, 10
                try:
                    read(1)
                except OSError: log.error('lost')
    """,
    "call of unknown object": """
        class Log:
            def __call__(self, n): return self.sock.recv()
        def f(x):
            try:
                return x(1)
            except OSError: log.error('lost')
        def main(): f(Log())
    """,
    "signal handler": """
        import signal
        class A:
            def install(self): signal.signal(signal.SIGTERM, self.stop)
            def stop(self, *a):
                try: self.sock.recv()
                except OSError: log.error('lost')
    """,
    "functools wraps decorator class": """
        class retrying:
            def __init__(self, fn): self.fn = fn
            def __call__(self, *a):
                try:
                    return self.fn(*a)
                except OSError: log.error('lost')
        @retrying
        def work(sock): sock.recv()
        def f(sock): work(sock)
    """,
    "decorator through attribute": """
        class Route:
            def get(self, path):
                def wrap(fn):
                    self.add_route(path, fn)
                    return fn
                return wrap
            def add_route(self, path, endpoint): self.routes.append((path, endpoint))
            def __init__(self): self.routes = []
            def serve(self, path, sock):
                for route, endpoint in self.routes:
                    if route == path:
                        try:
                            endpoint(sock)
                        except OSError: log.error('lost')
        app = Route()
        @app.get('/x')
        def work(sock): sock.recv()
    """,
    "route object": """
        class Route:
            def __init__(self, path, endpoint): self.path, self.endpoint = path, endpoint
            def handle(self, sock): return self.endpoint(sock)
        class App:
            def __init__(self): self.routes = []
            def route(self, path):
                def wrap(fn):
                    self.routes.append(Route(path, fn))
                    return fn
                return wrap
            def serve(self, path, sock):
                for route in self.routes:
                    try:
                        route.handle(sock)
                    except OSError: log.error('lost')
        app = App()
        @app.route('/x')
        def work(sock): sock.recv()
    """,
    "match class": """
        class A:
            def work(self, sock): sock.recv()
            def f(self, kind, sock):
                match kind:
                    case 'a': handler = self.work
                    case _: handler = self.other
                try:
                    handler(sock)
                except OSError: log.error('lost')
            def other(self, sock): pass
    """,
    "walrus": """
        HANDLERS = {}
        def work(sock): sock.recv()
        HANDLERS['x'] = work
        def f(kind, sock):
            try:
                if (handler := HANDLERS.get(kind)) is not None:
                    handler(sock)
            except OSError: log.error('lost')
    """,
    "singledispatch": """
        import functools
        @functools.singledispatch
        def handle(x): pass
        @handle.register
        def work(x: int): x.sock.recv()
        def f(x):
            try:
                handle(x)
            except OSError: log.error('lost')
    """,
    "namedtuple of functions": """
        from dataclasses import dataclass
        @dataclass
        class Op:
            name: str
            run: object
        def work(sock): sock.recv()
        OPS = [Op('a', work), Op('b', run=work)]
        def f(sock):
            for op in OPS:
                try:
                    op.run(sock)
                except OSError: log.error('lost')
    """,
}


@pytest.mark.parametrize("program", HANDED.values(), ids=HANDED)
def test_a_function_is_followed_to_where_it_is_called(tmp_path, program):
    found = distances_in(tmp_path, program)
    assert any("recv" in site and "lost" in reached for site, reached in found.items())


def test_attributes_of_one_name_are_told_apart_by_their_class(tmp_path):
    program = read_app(
        tmp_path,
        """
        def read(): pass
        def write(): pass
        class Reader:
            def __init__(self): self.callback = read
            def go(self): self.callback()
        class Writer:
            def __init__(self): self.callback = write
            def run(self): self.callback()
        def f(x):
            x.callback()
        """,
    )
    called = {
        program.functions[event.function].name: {program.functions[one].name for one in program.callees[index]}
        for index, event in enumerate(program.events)
        if event.expression.endswith(".callback")
    }
    assert called == {"Reader.go": {"read"}, "Writer.run": {"write"}, "f": {"read", "write"}}


def test_whose_attribute_it_is_may_be_a_guess(tmp_path):
    program = read_app(
        tmp_path,
        """
        def read(): pass
        class Reader:
            def __init__(self): self.callback = read
        def f(x):
            x.callback()
        """,
    )
    [guesses] = [
        program.guesses[index] for index, event in enumerate(program.events) if event.expression == "x.callback"
    ]
    assert [program.functions[one].name for one in guesses] == ["read"]


def test_a_sure_way_is_nearer_than_a_guess(tmp_path):
    found = distances_in(
        tmp_path,
        """
        class Known:
            def work(self, sock): sock.recv()
        class Other:
            def work(self, sock): sock.send()
        def f(sock, x):
            known = Known()
            try:
                known.work(sock)
                x.work(sock)
            except OSError: log.error('lost')
        """,
    )
    assert found["Known.work::sock.recv"]["lost"] < found["Other.work::sock.send"]["lost"]


def test_a_table_calls_what_is_in_it_and_nothing_else(tmp_path):
    program = read_package(
        tmp_path,
        m="""
        def read(): pass
        def write(): pass
        def close(): pass
        READERS = {'a': read}
        WRITERS = [write, close]
        def f(kind):
            READERS[kind]()
            for fn in WRITERS:
                fn()
        """,
    )
    assert callees_of(program, "READERS[kind]") == {"read"}
    assert callees_of(program, "fn") == {"write", "close"}


def test_what_outer_code_keeps_runs_later_and_what_it_is_given_may_run_there(tmp_path):
    program = read_app(
        tmp_path,
        """
        import lib
        def work(): pass
        def f(items):
            items.append(work)
            lib.retry(work)
        """,
    )
    assert callees_of(program, "items.append") == set()
    assert callees_of(program, "lib.retry") == {"work"}
    assert ["work"] in [[program.functions[one].name for one in starts] for starts in program.starts]


def test_a_decorator_does_not_give_back_to_one_what_another_gave_it(tmp_path):
    program = read_app(
        tmp_path,
        """
        def traced(fn):
            if not DEBUG:
                return fn
            def wrapper(*a):
                return fn(*a)
            return wrapper
        @traced
        def one(): pass
        @traced
        def other(): pass
        def f():
            one()
        """,
    )
    assert callees_of(program, "one") == {"one", "traced.wrapper"}


def test_a_name_that_many_methods_have_does_not_tell_who_is_given_a_function(tmp_path):
    classes = "".join(
        f"class C{number}:\n    def add(self, fn): self.fn{number} = fn\n    def go(self): self.fn{number}()\n"
        for number in range(9)
    )
    program = read_app(tmp_path, f"{classes}\ndef work(): pass\ndef f(x):\n    x.add(work)\n")
    assert not any(callees_of(program, f"self.fn{number}") for number in range(9))

import pytest
from tests.samples.small_programs import chain_in, distances_in

from cutset.model.reproduction.result import CausalKind


def test_handlers_take_only_what_they_catch(tmp_path):
    text = """
    class AppError(Exception): pass
    class Special(AppError): pass
    def f(a):
        try:
            g(a)
        except LookupError:
            log.error('lookup')
        except AppError:
            log.error('app')
    def g(a):
        if a == 1:
            raise KeyError(a)
        if a == 2:
            raise Special()
        raise RuntimeError('neither')
    """
    found = distances_in(tmp_path, text)
    assert set(found["g::raise KeyError"]) == {"lookup"}
    assert set(found["g::raise Special"]) == {"app"}
    assert "g::raise RuntimeError" not in found


def test_a_class_from_outside_may_derive_from_anything_and_one_from_inside_comes_from_inside(tmp_path):
    text = """
    import lib
    class Own(Exception): pass
    def f(a):
        try:
            a.go()
            g(a)
        except OSError:
            log.error('system')
        except Own:
            log.error('own')
    def g(a):
        if a:
            raise lib.Lost('x')
        raise Own('x')
    """
    found = distances_in(tmp_path, text)
    assert set(found["f::a.go"]) == {"system"}
    assert set(found["g::raise lib.Lost"]) == {"system", "own"}
    assert set(found["g::raise Own"]) == {"own"}


def test_what_an_inner_handler_surely_catches_does_not_get_out(tmp_path):
    text = """
    def f(a):
        try:
            try:
                a.inner()
            except OSError:
                pass
            a.outer()
        except ConnectionError:
            log.error('lost')
    """
    assert set(distances_in(tmp_path, text)) == {"f::a.outer"}


def test_suppressed_exceptions_do_not_get_out(tmp_path):
    text = """
    import contextlib
    def f(a):
        try:
            with contextlib.suppress(OSError):
                a.inner()
            a.outer()
        except OSError:
            log.error('lost')
    """
    assert set(distances_in(tmp_path, text)) == {"f::a.outer"}


def test_translated_exceptions_lead_to_the_deeper_one(tmp_path):
    text = """
    class Lost(Exception): pass
    def low(a):
        try:
            a.recv()
        except OSError as error:
            raise Lost('x') from error
    def f(a):
        try:
            low(a)
        except Lost:
            log.error('lost')
    """
    assert chain_in(tmp_path, text, "low::a.recv", "lost") == [
        (CausalKind.EXTERNAL, "a.recv"),
        (CausalKind.HANDLER, "except OSError"),
        (CausalKind.INTERNAL, "raise Lost"),
        (CausalKind.INTERNAL, "low"),
        (CausalKind.HANDLER, "except Lost"),
        (CausalKind.LOCATION, "log.error"),
    ]


def test_a_handler_that_raises_again_passes_on_only_what_is_wanted(tmp_path):
    text = """
    def f(a):
        try:
            try:
                a.recv()
            except Exception:
                a.clean()
                raise
        except KeyboardInterrupt:
            log.error('stopped')
    """
    assert "f::a.recv" in distances_in(tmp_path, text)  # the interrupt gets past the inner handler
    assert all(kind != CausalKind.INTERNAL for kind, _ in chain_in(tmp_path, text, "f::a.recv", "stopped"))


def test_an_exception_kept_in_a_variable_is_followed_to_where_it_was_caught(tmp_path):
    text = """
    class A:
        def catch(self, a):
            try:
                a.recv()
            except OSError as error:
                self.error = error
        def check(self):
            if self.error:
                raise self.error
        def f(self):
            try:
                self.check()
            except OSError:
                log.error('late')
    """
    assert "A.catch::a.recv" in distances_in(tmp_path, text)


@pytest.mark.parametrize(
    "wait", ["await self.waiter", "self.waiter.result()", "await asyncio.wait_for(self.waiter, 1)"]
)
def test_an_exception_given_to_a_future_comes_out_where_it_is_waited_for(tmp_path, wait):
    text = f"""
    class A:
        def flush(self, a):
            try:
                a.write()
            except OSError as error:
                self.waiter.set_exception(error)
        async def f(self):
            try:
                {wait}
            except OSError:
                log.error('not flushed')
    """
    assert chain_in(tmp_path, text, "A.flush::a.write", "not flushed")[:3] == [
        (CausalKind.EXTERNAL, "a.write"),
        (CausalKind.HANDLER, "except OSError"),
        (CausalKind.LOCATION, "self.waiter.set_exception"),
    ]


def test_cancellation_arises_where_a_task_waits(tmp_path):
    text = """
    import asyncio
    async def f(a):
        try:
            a.send()
            await a.drain()
            await a.future
        except asyncio.CancelledError:
            log.info('cancelled')
    """
    assert set(distances_in(tmp_path, text)) == {"f::a.drain", "f::await a.future"}


@pytest.mark.parametrize(
    ("start", "wait"),
    [
        ("future = pool.submit(work, a)", "future.result()"),
        ("future = loop.run_in_executor(None, work, a)", "await future"),
        ("futures = [pool.submit(work, x) for x in a]", "[f.result() for f in futures]"),
        ("task = asyncio.create_task(job(a))", "await task"),
        ("", "await asyncio.wait_for(job(a), 1)"),
        ("", "await asyncio.gather(job(a), job(a))"),
    ],
)
def test_exceptions_of_tasks_come_out_where_they_are_waited_for(tmp_path, start, wait):
    text = f"""
    import asyncio
    def work(a):
        a.recv()
    async def job(a):
        work(a)
    async def f(pool, loop, a):
        {start}
        try:
            {wait}
        except OSError:
            log.error('task failed')
    """
    assert "work::a.recv" in distances_in(tmp_path, text)


def test_a_message_in_a_thread_is_reached_through_whoever_started_it(tmp_path):
    text = """
    import threading
    def work():
        log.info('working')
    def f(a):
        try:
            a.connect()
        except OSError:
            threading.Thread(target=work).start()
    """
    assert distances_in(tmp_path, text) == {"f::a.connect": {"working": 4}}


def test_exceptions_in_the_body_of_a_with_reach_the_managers_handlers(tmp_path):
    text = """
    from contextlib import contextmanager
    @contextmanager
    def transaction(db):
        try:
            yield
        except Exception:
            log.error('rolled back')
            raise
    class Timed:
        def __enter__(self): pass
        def __exit__(self, kind, value, trace):
            if kind:
                log.error('timed out')
    def f(db):
        with transaction(db):
            db.execute()
    def g(db):
        with Timed():
            db.commit()
    """
    found = distances_in(tmp_path, text)
    assert "rolled back" in found["f::db.execute"]
    assert "timed out" in found["g::db.commit"]


def test_decorators_handle_the_exceptions_of_what_they_wrap(tmp_path):
    text = """
    def safe(fn):
        def wrapper(*args):
            try:
                return fn(*args)
            except OSError:
                log.error('failed')
        return wrapper
    @safe
    def read(a):
        return a.recv()
    """
    assert distances_in(tmp_path, text)["read::a.recv"] == {"failed": 3}


def test_generators_pass_their_exceptions_to_who_iterates(tmp_path):
    text = """
    class Source:
        def __iter__(self): return self
        def __next__(self): return self.sock.recv()
    class Pages:
        def __iter__(self):
            yield self.load()
    def lines(a):
        for x in a.pages():
            yield a.fetch(x)
    def f(a, source):
        try:
            for one in lines(a): pass
            for one in source: pass
            for one in Pages(): pass
        except OSError:
            log.error('broken')
    """
    sites = {"lines::a.fetch", "Source.__next__::self.sock.recv", "Pages.__iter__::self.load"}
    assert sites <= set(distances_in(tmp_path, text))


def test_a_finally_is_reached_by_exceptions(tmp_path):
    text = """
    def f(a):
        try:
            a.go()
        finally:
            log.info('over')
    """
    assert distances_in(tmp_path, text) == {"f::a.go": {"over": 2}}


def test_conditions_above_a_message_count_if_they_leave(tmp_path):
    text = """
    def f(self, a):
        state = None
        try:
            state = a.read()
        except OSError:
            state = 'bad'
        if state != 'bad':
            return
        log.error('bad state')
    """
    assert distances_in(tmp_path, text)["f::a.read"] == {"bad state": 4}


def test_what_a_function_returns_decides_a_condition(tmp_path):
    text = """
    def alive(a):
        try:
            a.ping()
        except OSError:
            return False
        return True
    def f(a):
        if not alive(a):
            log.error('dead')
    """
    assert distances_in(tmp_path, text)["alive::a.ping"] == {"dead": 4}


def test_calls_for_their_effect_alone_change_what_conditions_read(tmp_path):
    text = """
    class A:
        def stop(self, a):
            try:
                a.close()
            except OSError:
                self.stopped.set()
        def f(self):
            while not self.stopped.is_set():
                pass
            log.info('stopped')
    """
    assert "stopped" in distances_in(tmp_path, text)["A.stop::a.close"]


def test_an_exception_that_skips_a_write_changes_the_condition_too(tmp_path):
    text = """
    class A:
        def work(self, a):
            self.busy = True
            a.send()
            self.done()
        def done(self):
            self.busy = False
        def f(self):
            if self.busy:
                log.warning('still busy')
    """
    assert "still busy" in distances_in(tmp_path, text)["A.work::a.send"]


def test_a_missing_message_is_explained_by_what_may_raise_before_it(tmp_path):
    text = """
    def loop(a):
        while True:
            step(a)
            a.wait()
    def step(a):
        a.send()
        log.info('step done')
    """
    assert distances_in(tmp_path, text) == {}
    assert distances_in(tmp_path, text, missing=True) == {
        "step::a.send": {"step done": 1},
        "loop::a.wait": {"step done": 3},
    }


def test_a_guess_by_name_is_farther_than_what_is_known(tmp_path):
    text = """
    class Known:
        def read(self): return self.a.recv()
    class Other:
        def read(self): return self.b.recv()
    def f(known: Known):
        try:
            known.read()
        except OSError:
            log.error('one')
    def g(thing):
        try:
            thing.read()
        except OSError:
            log.error('two')
    """
    found = distances_in(tmp_path, text)
    assert found["Known.read::self.a.recv"] == {"one": 3, "two": 5}
    assert found["Other.read::self.b.recv"] == {"two": 5}


def test_what_a_driver_gets_from_outside_may_come_from_what_it_started(tmp_path):
    served = "def serve(sock):\n    try:\n        sock.accept()\n    except OSError:\n        pass\n"
    driver = """
    import app, threading, urllib.request
    threading.Thread(target=app.serve).start()
    try:
        urllib.request.urlopen('http://localhost')
    except OSError:
        log.error('no answer')
    """
    assert set(distances_in(tmp_path, served, driver)) == {"serve::sock.accept"}

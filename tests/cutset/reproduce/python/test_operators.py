"""Operators that run code of the program: behind each, a fault in it leads to the message."""

import pytest
from tests.samples.small_programs import distances_in, read_app

OPERATORS = {
    "setitem": """
        class Buffer:
            def __setitem__(self, key, value): self.sock.recv()
        def f():
            buffer = Buffer()
            try:
                buffer['a'] = 1
            except OSError: log.error('lost')
    """,
    "setitem unknown": """
        class Buffer:
            def __setitem__(self, key, value): self.sock.recv()
        def f(buffer):
            try:
                buffer['a'] = 1
            except OSError: log.error('lost')
    """,
    "getitem attribute unknown": """
        class Buffer:
            def __getitem__(self, key): return self.sock.recv()
        class A:
            def __init__(self, cache): self.cache = cache
            def f(self):
                try:
                    return self.cache['a']
                except OSError: log.error('lost')
    """,
    "delitem": """
        class Buffer:
            def __delitem__(self, key): self.sock.recv()
        def f(buffer):
            try:
                del buffer['a']
            except OSError: log.error('lost')
    """,
    "augmented item": """
        class Buffer:
            def __setitem__(self, key, value): self.sock.recv()
        def f(buffer):
            try:
                buffer['a'] += 1
            except OSError: log.error('lost')
    """,
    "contains": """
        class Buffer:
            def __contains__(self, key): return self.sock.recv()
        def f(buffer):
            try:
                if 'x' in buffer: pass
            except OSError: log.error('lost')
    """,
    "not in": """
        class Buffer:
            def __contains__(self, key): return self.sock.recv()
        def f(buffer):
            try:
                return 'x' not in buffer
            except OSError: log.error('lost')
    """,
    "plus": """
        class Log:
            def __add__(self, other): return self.sock.recv()
        def f():
            log_ = Log()
            try:
                return log_ + 1
            except OSError: log.error('lost')
    """,
    "plus equals": """
        class Log:
            def __iadd__(self, other): self.sock.recv()
        def f(a):
            a.entries = Log()
            try:
                a.entries += [1]
            except OSError: log.error('lost')
    """,
    "equality": """
        class Log:
            def __eq__(self, other): return self.sock.recv()
        def f(x: Log):
            try:
                return x == 1
            except OSError: log.error('lost')
    """,
    "less than": """
        class Log:
            def __lt__(self, other): return self.sock.recv()
        def f(x: Log):
            try:
                return x < 1
            except OSError: log.error('lost')
    """,
    "bool": """
        class Log:
            def __bool__(self): return self.sock.recv()
        def f(x: Log):
            try:
                if x: return 1
            except OSError: log.error('lost')
    """,
    "bool by len": """
        class Log:
            def __len__(self): return self.sock.recv()
        class A:
            def __init__(self): self.x = Log()
            def f(self):
                try:
                    if not self.x: return 1
                except OSError: log.error('lost')
    """,
    "f-string": """
        class Log:
            def __str__(self): return self.sock.recv()
        def f(x: Log):
            try:
                return f'{x}'
            except OSError: log.error('lost')
    """,
    "repr in f-string": """
        class Log:
            def __repr__(self): return self.sock.recv()
        def f(x: Log):
            try:
                return f'{x!r}'
            except OSError: log.error('lost')
    """,
    "percent format": """
        class Log:
            def __str__(self): return self.sock.recv()
        def f():
            x = Log()
            try:
                return '%s' % x
            except OSError: log.error('lost')
    """,
    "unpacking": """
        class Rows:
            def __iter__(self):
                while True: yield self.sock.recv()
        def f(rows: Rows):
            try:
                first, second = rows
            except OSError: log.error('lost')
    """,
}


@pytest.mark.parametrize("program", OPERATORS.values(), ids=OPERATORS)
def test_an_operator_is_followed_to_the_method_behind_it(tmp_path, program):
    found = distances_in(tmp_path, program)
    assert any("recv" in site and "lost" in reached for site, reached in found.items())


def test_operators_are_no_sites(tmp_path):
    program = read_app(
        tmp_path,
        """
        class Rows:
            def __getitem__(self, key): return key
            def __contains__(self, key): return True
        def f(rows, a):
            if a in rows and rows[a] == 1:
                rows[a] += 1
        """,
    )
    assert not program.sites


def test_operators_that_no_class_defines_leave_no_rows(tmp_path):
    program = read_app(tmp_path, "def f(a, b):\n    a[b] = a + b\n    return f'{a}' == b in a\n")
    assert not program.events

import json
import logging
import textwrap
from pathlib import Path

from cutset.reproduce.causal import CausalGraph, Node, NodeKind, Reach, causal_graph, path, reaches
from cutset.reproduce.log_statements import log_statements
from cutset.reproduce.source import read_program
from cutset.reproduce.syntax import Program
from cutset.reproduce.tracebacks import Origin, Sighting


def _read(tmp_path: Path, text: str, driver: str = "") -> Program:
    (tmp_path / "app.py").write_text(textwrap.dedent(text))
    (tmp_path / "drive.py").write_text(textwrap.dedent(driver))
    return read_program(["app"], [str(tmp_path)], [str(tmp_path / "drive.py")])


def _graph(program: Program, *, missing: bool = False) -> CausalGraph:
    """From every log statement of the program, under the first words of its message."""
    statements = [one for one in log_statements(program) if one.literals]
    return causal_graph(program, [Sighting(one.literals[0], one, missing=missing) for one in statements])


def _distances(tmp_path: Path, text: str, driver: str = "", *, missing: bool = False) -> dict[str, dict[str, int]]:
    program = _read(tmp_path, text, driver)
    found = reaches(_graph(program, missing=missing))
    return {
        str(program.sites[site]).removeprefix("app::"): {key: reach.steps for key, reach in reached.items()}
        for site, reached in found.items()
    }


def _chain(tmp_path: Path, text: str, site: str, message: str, driver: str = "") -> list[tuple[NodeKind, str]]:
    program = _read(tmp_path, text, driver)
    number = next(index for index, one in enumerate(program.sites) if str(one) == f"app::{site}")
    return [(node.kind, node.text) for node in path(_graph(program), number, message)]


_TWO_HANDLERS = """
def f(sock):
    try:
        data = sock.recv()
    except OSError:
        log.error('read failed')
        return
    try:
        sock.parse(data)
    except ValueError:
        log.error('parse failed')
"""


def test_a_message_in_a_handler_leads_to_what_raises_in_its_try(tmp_path):
    assert _distances(tmp_path, _TWO_HANDLERS) == {
        "f::sock.recv": {"read failed": 2},
        "f::sock.parse": {"parse failed": 2},
    }


def test_a_path_explains_itself(tmp_path):
    assert _chain(tmp_path, _TWO_HANDLERS, "f::sock.recv", "read failed") == [
        (NodeKind.EXTERNAL, "sock.recv"),
        (NodeKind.HANDLER, "except OSError"),
        (NodeKind.LOCATION, "log.error"),
    ]
    assert _chain(tmp_path, _TWO_HANDLERS, "f::sock.recv", "parse failed") == []


_ALL_SEVEN = """
class Worker:
    def __init__(self):
        self.healthy = True
    def fetch(self, sock):
        return sock.recv()
    def poll(self, sock):
        try:
            self.fetch(sock)
            self.check(sock)
        except Exception:
            self.healthy = False
    def check(self, sock):
        if sock.old:
            raise ValueError('old')
    def run(self):
        if not self.healthy:
            self.report()
    def report(self):
        log.error('unhealthy')
"""


def test_all_seven_kinds_of_nodes(tmp_path):
    assert _chain(tmp_path, _ALL_SEVEN, "Worker.fetch::sock.recv", "unhealthy") == [
        (NodeKind.EXTERNAL, "sock.recv"),
        (NodeKind.INTERNAL, "self.fetch"),
        (NodeKind.HANDLER, "except Exception"),
        (NodeKind.LOCATION, "self.healthy = …"),
        (NodeKind.CONDITION, "not self.healthy"),
        (NodeKind.LOCATION, "self.report"),
        (NodeKind.INVOCATION, "Worker.report"),
        (NodeKind.LOCATION, "log.error"),
    ]
    assert _chain(tmp_path, _ALL_SEVEN, "Worker.check::raise ValueError", "unhealthy")[:2] == [
        (NodeKind.NEW, "raise ValueError"),
        (NodeKind.INTERNAL, "self.check"),
    ]


def test_distances_are_the_lengths_of_paths(tmp_path):
    program = _read(tmp_path, _ALL_SEVEN)
    graph = _graph(program)
    for site, reached in reaches(graph).items():
        for message, reach in reached.items():
            assert len(path(graph, site, message)) == reach.steps + 1


def test_a_handler_tells_of_which_type_an_exception_must_be_to_reach_it(tmp_path):
    program = _read(
        tmp_path,
        "def f(a):\n"
        "    try:\n        a.go()\n"
        "    except TimeoutError:\n        log.error('too late')\n"
        "    except Exception:\n        log.error('failed')\n",
    )
    [(_, reached)] = reaches(_graph(program)).items()
    assert {key: reach.wanted for key, reach in reached.items()} == {
        "too late": ("TimeoutError",),
        "failed": ("Exception",),
    }


def test_a_traceback_begins_at_what_raised_in_its_last_known_frame(tmp_path):
    program = _read(tmp_path, "def f(a):\n    a.open()\n    if a.full:\n        a.send()\n")
    function = next(index for index, one in enumerate(program.functions) if one.name == "f")
    graph = causal_graph(program, [Sighting("key", None, (Origin("app", function, 4, "OSError"),))])
    assert reaches(graph) == {1: {"key": Reach(0, ("OSError",))}}
    assert [node.kind for node in graph.nodes][:2] == [NodeKind.EXTERNAL, NodeKind.LOCATION]


def test_observables_are_told_apart_also_if_there_are_many(tmp_path):
    branches = "".join(
        f"    try:\n        a.go{n}()\n    except OSError:\n        log.error('message {n} end')\n" for n in range(100)
    )
    found = _distances(tmp_path, f"def f(a):\n{branches}")
    assert found["f::a.go77"] == {"message 77 end": 2}
    assert len(found) == 100


def test_a_large_package_has_a_graph():
    folders = [str(Path(json.__file__).parent), str(Path(logging.__file__).parent)]
    program = read_program(folders, [])
    graph = _graph(program)
    reached = reaches(graph)
    assert reached
    assert all(isinstance(node, Node) and node.line >= 0 for node in graph.nodes)
    assert {graph.nodes[index].site for index in range(len(graph.nodes))} - {-1} == set(reached)

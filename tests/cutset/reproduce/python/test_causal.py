import json
import logging
from pathlib import Path

from tests.samples.small_programs import chain_in, distances_in, graph_of, read_app

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.distances import Reach, path, reaches
from cutset.reproduce.logs.recognition import Origin, Sighting
from cutset.reproduce.python.causal import causal_graph
from cutset.reproduce.python.source import read_program

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
    assert distances_in(tmp_path, _TWO_HANDLERS) == {
        "f::sock.recv": {"read failed": 2},
        "f::sock.parse": {"parse failed": 2},
    }


def test_a_path_explains_itself(tmp_path):
    assert chain_in(tmp_path, _TWO_HANDLERS, "f::sock.recv", "read failed") == [
        (CausalKind.EXTERNAL, "sock.recv"),
        (CausalKind.HANDLER, "except OSError"),
        (CausalKind.LOCATION, "log.error"),
    ]
    assert chain_in(tmp_path, _TWO_HANDLERS, "f::sock.recv", "parse failed") == []


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
    assert chain_in(tmp_path, _ALL_SEVEN, "Worker.fetch::sock.recv", "unhealthy") == [
        (CausalKind.EXTERNAL, "sock.recv"),
        (CausalKind.INTERNAL, "self.fetch"),
        (CausalKind.HANDLER, "except Exception"),
        (CausalKind.LOCATION, "self.healthy = …"),
        (CausalKind.CONDITION, "not self.healthy"),
        (CausalKind.LOCATION, "self.report"),
        (CausalKind.INVOCATION, "Worker.report"),
        (CausalKind.LOCATION, "log.error"),
    ]
    assert chain_in(tmp_path, _ALL_SEVEN, "Worker.check::raise ValueError", "unhealthy")[:2] == [
        (CausalKind.NEW, "raise ValueError"),
        (CausalKind.INTERNAL, "self.check"),
    ]


def test_distances_are_the_lengths_of_paths(tmp_path):
    program = read_app(tmp_path, _ALL_SEVEN)
    graph = graph_of(program)
    for site, reached in reaches(graph).items():
        for message, reach in reached.items():
            assert len(path(graph, site, message)) == reach.steps + 1


def test_a_handler_tells_of_which_type_an_exception_must_be_to_reach_it(tmp_path):
    program = read_app(
        tmp_path,
        "def f(a):\n"
        "    try:\n        a.go()\n"
        "    except TimeoutError:\n        log.error('too late')\n"
        "    except Exception:\n        log.error('failed')\n",
    )
    [(_, reached)] = reaches(graph_of(program)).items()
    assert {key: reach.wanted for key, reach in reached.items()} == {
        "too late": ("TimeoutError",),
        "failed": ("Exception",),
    }


def test_a_traceback_begins_at_what_raised_in_its_last_known_frame(tmp_path):
    program = read_app(tmp_path, "def f(a):\n    a.open()\n    if a.full:\n        a.send()\n")
    function = next(index for index, one in enumerate(program.functions) if one.name == "f")
    graph = causal_graph(program, [Sighting("key", None, (Origin("app", function, 4, "OSError"),))])
    assert reaches(graph) == {1: {"key": Reach(0, ("OSError",))}}
    assert [graph.step(source).kind for source in graph.sources["key"]] == [CausalKind.EXTERNAL, CausalKind.LOCATION]


def test_observables_are_told_apart_also_if_there_are_many(tmp_path):
    branches = "".join(
        f"    try:\n        a.go{n}()\n    except OSError:\n        log.error('message {n} end')\n" for n in range(100)
    )
    found = distances_in(tmp_path, f"def f(a):\n{branches}")
    assert found["f::a.go77"] == {"message 77 end": 2}
    assert len(found) == 100


def test_a_large_package_has_a_graph():
    folders = [str(Path(json.__file__).parent), str(Path(logging.__file__).parent)]
    program = read_program(folders, [])
    graph = graph_of(program)
    reached = reaches(graph)
    assert reached
    for site, messages in reached.items():
        for message in messages:
            chain = path(graph, site, message)
            assert chain
            assert all(isinstance(step, CausalStep) and step.line >= 0 for step in chain)

from dataclasses import replace

from hypothesis import assume, given
from hypothesis.strategies import sampled_from
from tests.samples.jvm_programs import IO, Attempt, If, Invoke, Log, Return, Throw, Type, program_of, sightings_in
from tests.samples.jvm_simulation import Run, is_a, programs

from cutset.reproduce.graph.distances import Reach, reaches
from cutset.reproduce.jvm.causal import causal_graph
from cutset.reproduce.logs.recognition import Origin, Sighting


@given(programs())
def test_what_a_fault_changes_in_the_log_leads_back_to_it_and_to_its_type(types):
    program = program_of(types)
    numbers = {site.expression.rpartition(".")[2]: number for number, site in enumerate(program.sites)}
    run = Run(types)
    good = run.start()
    assume(not run.thrown)  # that an exception of good runs does not happen is nothing that is followed
    for missing in (False, True):
        graph = causal_graph(program, sightings_in(program, missing=missing))
        for call in (call for body in types["A"].methods.values() for call in _calls(body)):
            number = numbers.get(call.callee.rpartition(".")[2])
            if number is None:  # an own method, or behind a `throw`
                continue
            for kind in (*call.throws, "java.lang.IllegalStateException"):
                bad = Run(types, (id(call), kind)).start()
                for message in set(good) - set(bad) if missing else set(bad) - set(good):
                    wanted = _wanted(graph, message, number)
                    assert any(not each or any(is_a(kind, one) for one in each) for each in wanted)


def _calls(statements):
    for each in statements:
        match each:
            case Invoke():
                yield each
            case If():
                yield from _calls(each.body)
            case Attempt():
                yield from _calls(each.body)
                for _, body in each.handlers:
                    yield from _calls(body)


def _wanted(graph, message, site):
    """Of all nodes of a site that a message leads back to."""
    waiting = list(graph.sources[message])
    seen = set(waiting)
    for number in waiting:  # grows
        new = [each for each in graph.priors(number) if each not in seen]
        seen.update(new)
        waiting.extend(new)
    return [graph.node(number).wanted for number in seen if graph.node(number).site == site]


# -- stack traces ------------------------------------------------------------------------------------------------------

_NULL = "java.lang.NullPointerException"
_NEWEST = {  # what is newest is null if nothing is valid
    "A": Type(
        {
            "size": [Invoke("A.newest"), Invoke("java.io.File.length")],
            "newest": [
                Invoke("A.valid", label="valid"),
                If([Return(constant="null")], calls=["valid"]),
                Return(fields=["A.files"]),
            ],
            "valid": [Attempt([Invoke("java.io.File.read", [IO])], [(IO, [])]), Return()],
        }
    )
}


def _raised(types, function, line, kind):
    """The program and its graph, if a stack trace shows the exception in that line of the function."""
    program = program_of(types, {_NULL: ("java.lang.RuntimeException",)})
    number = [each.name for each in program.functions].index(function)
    line = program.functions[number].line + line
    seen = Sighting("raised", None, (Origin("A", number, line, kind),))
    return program, causal_graph(program, [seen])


def _near(types, function, line, kind):
    program, graph = _raised(types, function, line, kind)
    return {program.sites[site].expression: reach["raised"].steps for site, reach in reaches(graph).items()}


def test_a_stack_trace_leads_to_what_throws_on_its_line():
    types = {"A": Type({"f": [Invoke("net.Socket.open", [IO]), Invoke("net.Socket.read", [IO])]})}
    assert _near(types, "f", 1, IO) == {"Socket.read": 0}


def test_a_line_of_another_version_leads_to_what_throws_in_the_method():
    types = {"A": Type({"f": [Invoke("net.Socket.open", [IO]), Invoke("net.Socket.wait")]})}
    assert _near(types, "f", 70, IO) == {"Socket.open": 0}


def test_what_a_deeper_method_throws_has_a_frame_of_its_own():
    types = {"A": Type({"f": [Invoke("A.g"), Throw(IO)], "g": [Invoke("net.Socket.read", [IO])]})}
    assert _near(types, "f", 70, IO) == {"throw IOException": 0}


def test_a_value_that_is_wrong_leads_to_where_it_comes_from():
    program, graph = _raised(_NEWEST, "size", 0, _NULL)
    read = [site.expression for site in program.sites].index("File.read")
    assert reaches(graph)[read]["raised"] == Reach(4, (IO,))  # its handler, what valid returns, the condition, null
    assert "File.read" not in _near(_NEWEST, "size", 1, IO)


# -- what a message says was caught ------------------------------------------------------------------------------------

_STATE = "java.lang.IllegalStateException"
_RELEASE = {
    "A": Type(
        {
            "run": [
                Attempt(
                    [Invoke("net.Lock.check"), Invoke("net.Lock.release", [IO])],
                    [("java.lang.Exception", [Log("kept")])],
                )
            ]
        }
    )
}


def _told(types, caught):
    program = program_of(types)
    seen = [replace(each, caught=caught) for each in sightings_in(program)]
    found = reaches(causal_graph(program, seen))
    return {program.sites[site].expression: reach for site, reach in found.items()}


def test_what_a_message_says_was_caught_is_nearer_than_what_else_its_handler_catches():
    assert {each["kept"].steps for each in _told(_RELEASE, "").values()} == {2}
    assert _told(_RELEASE, IO)["Lock.release"]["kept"] == Reach(2, (IO,))
    assert _told(_RELEASE, IO)["Lock.check"]["kept"].steps > 2
    assert _told(_RELEASE, _STATE)["Lock.check"]["kept"] == Reach(2, (_STATE,))


def test_what_no_handler_around_can_have_caught_tells_nothing():
    assert _told(_RELEASE, "java.lang.Error") == _told(_RELEASE, "") == _told(_RELEASE, "no.Such")


@given(programs(), sampled_from((IO, _STATE, "java.lang.RuntimeException", "java.net.SocketException")))
def test_what_a_message_says_was_caught_hides_nothing(types, caught):
    plain, told = _told(types, ""), _told(types, caught)
    assert {site: set(reached) for site, reached in plain.items()} == {
        site: set(reached) for site, reached in told.items()
    }

from tests.samples.jvm_programs import IO, Attempt, If, Invoke, Log, Put, Return, Type, program_of

from cutset.reproduce.jvm.code_index import index_code


def test_a_field_is_the_same_by_whichever_class_it_is_named():
    types = {
        "A": Type({"f": [Put("A.x")]}),
        "B": Type({"f": [Put("B.x")]}, parent="A"),
        "C": Type({"f": [Put("C.x")]}),
    }
    code = index_code(program_of(types))
    named = {name: [event.method for event in code.writers(code.hierarchy.number(name))] for name in ("A.x", "B.x")}
    assert named == {"A.x": [0, 1], "B.x": [0, 1]}


def test_control_may_miss_what_a_return_comes_before():
    handlers = [(IO, [If([Return()])]), ("java.lang.Exception", [])]
    body = [Attempt([Invoke("net.Socket.read", [IO])], handlers), Log("done")]
    program = program_of({"A": Type({"f": body})})
    code, method = index_code(program), program.method(0)
    after = method.logs[0].block
    assert [code.may_miss(0, attempt.handler, after) for attempt in method.tries] == [True, False]


def test_a_handler_may_lead_past_a_condition():
    body = [Attempt([Invoke("net.Socket.read", [IO]), If([Return()])], [(IO, [])]), Log("done")]
    program = program_of({"A": Type({"f": body})})
    method = program.method(0)
    assert index_code(program).bypassing(0, method.logs[0].block) == (method.tries[0].handler,)


def test_what_comes_after_the_condition_leads_past_nothing():
    body = [If([Return()]), Attempt([Invoke("net.Socket.read", [IO])], [(IO, [])]), Log("done")]
    program = program_of({"A": Type({"f": body})})
    assert index_code(program).bypassing(0, program.method(0).logs[0].block) == ()

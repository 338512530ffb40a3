from tests.samples.jvm_programs import IO, Attempt, Invoke, Type, program_of

from cutset.reproduce.jvm.running import may_run

_RECOVERS = {
    "shop.A": Type(
        {
            "f": [Attempt([Invoke("net.Socket.read", [IO])], [(IO, [Invoke("shop.A.recover")])]), Invoke("shop.A.g")],
            "recover": [Invoke("shop.A.again")],
            "again": [],
            "g": [],
        }
    )
}


def test_what_handlers_call_may_run():
    program = program_of(_RECOVERS)
    f, recover, again, _ = (function.line for function in program.functions)
    assert may_run(program, {"shop/A.java": frozenset({f})}) == {"shop/A.java": {f, recover, again}}


def test_nothing_is_known_if_nothing_ran():
    assert may_run(program_of(_RECOVERS), {}) == {}

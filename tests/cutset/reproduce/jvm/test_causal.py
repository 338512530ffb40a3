from tests.samples.jvm_programs import (
    IO,
    Attempt,
    Declared,
    If,
    Invoke,
    Log,
    Put,
    Rethrow,
    Return,
    Throw,
    Type,
    chain_in,
    distances_in,
    program_of,
    wanted_in,
)

from cutset.model.reproduction.result import CausalKind

_STATE = "java.lang.IllegalStateException"
_INTERRUPTED = "java.lang.InterruptedException"

_TWO_HANDLERS = {
    "A": Type(
        {
            "f": [
                Attempt([Invoke("net.Socket.read", [IO])], [(IO, [Log("read failed"), Return()])]),
                Attempt([Invoke("net.Socket.close", [_INTERRUPTED])], [(_INTERRUPTED, [Log("close failed")])]),
            ]
        }
    )
}


def test_a_message_in_a_handler_leads_to_what_throws_in_its_try():
    assert distances_in(program_of(_TWO_HANDLERS)) == {
        "A.f: Socket.read": {"read failed": 2},
        "A.f: Socket.close": {"close failed": 2},
    }


def test_a_path_explains_itself():
    program = program_of(_TWO_HANDLERS)
    assert chain_in(program, "Socket.read", "read failed") == [
        (CausalKind.EXTERNAL, "Socket.read"),
        (CausalKind.HANDLER, "catch (IOException)"),
        (CausalKind.LOCATION, 'error("read failed")'),
    ]
    assert chain_in(program, "Socket.read", "close failed") == []


_ALL_SEVEN = {
    "shop.Worker": Type(
        {
            "fetch": [Invoke("net.Socket.read", [IO])],
            "poll": [
                Attempt(
                    [Invoke("shop.Worker.fetch"), Invoke("shop.Worker.check")],
                    [("java.lang.Exception", [Put("shop.Worker.healthy")])],
                )
            ],
            "check": [If([Throw(_STATE)], fields=["shop.Worker.old"])],
            "run": [If([Invoke("shop.Worker.report")], fields=["shop.Worker.healthy"])],
            "report": [Log("unhealthy")],
        }
    )
}


def test_all_seven_kinds_of_nodes():
    program = program_of(_ALL_SEVEN)
    assert chain_in(program, "Socket.read", "unhealthy") == [
        (CausalKind.EXTERNAL, "Socket.read"),
        (CausalKind.INTERNAL, "Worker.fetch"),
        (CausalKind.HANDLER, "catch (Exception)"),
        (CausalKind.LOCATION, "Worker.healthy = …"),
        (CausalKind.CONDITION, "if (…) on healthy"),
        (CausalKind.LOCATION, "Worker.report"),
        (CausalKind.INVOCATION, "Worker.report"),
        (CausalKind.LOCATION, 'error("unhealthy")'),
    ]
    assert chain_in(program, "throw IllegalStateException", "unhealthy")[:2] == [
        (CausalKind.NEW, "throw IllegalStateException"),
        (CausalKind.INTERNAL, "Worker.check"),
    ]


def test_handlers_that_javac_writes_are_no_steps():
    plain = [Invoke("net.Socket.read", [IO])]
    for wrapped in (
        [Attempt(plain, [("", [Invoke("net.Lock.unlock", site=False), Rethrow()])])],
        [Attempt(plain, [("java.lang.Throwable", [Invoke("net.Lock.unlock", site=False), Rethrow()])])],
    ):
        body = [Attempt([Invoke("A.g")], [(IO, [Log("failed")])])]
        program = program_of({"A": Type({"f": body, "g": wrapped})})
        assert distances_in(program) == {"A.g: Socket.read": {"failed": 3}}
        assert wanted_in(program, "Socket.read", "failed") == ("IOException",)


def test_accessors_are_no_steps():
    accessor = Declared([Invoke("A.g")], access=0x1008)
    body = [Attempt([Invoke("A.access$000", opcode=184)], [(IO, [Log("failed")])])]
    types = {"A": Type({"access$000": accessor, "g": [Invoke("net.Socket.read", [IO])]}), "B": Type({"f": body})}
    assert distances_in(program_of(types)) == {"A.g: Socket.read": {"failed": 3}}
    assert [text for _, text in chain_in(program_of(types), "Socket.read", "failed")] == [
        "Socket.read",
        "A.access$000",
        "catch (IOException)",
        'error("failed")',
    ]


def test_only_what_gets_past_the_handlers_inside_is_wanted():
    inner = Attempt([Invoke("net.Socket.read", [IO, _INTERRUPTED])], [(IO, [Log("retry")])])
    program = program_of({"A": Type({"f": [Attempt([inner], [("java.lang.Exception", [Log("failed")])])]})})
    assert wanted_in(program, "Socket.read", "failed") == ("InterruptedException", "RuntimeException")
    assert wanted_in(program, "Socket.read", "retry") == ("IOException",)


def test_a_new_exception_in_a_handler_leads_on_to_what_it_wraps():
    wraps = [Attempt([Invoke("net.Socket.read", [IO])], [(IO, [Throw(_INTERRUPTED)])])]
    body = [Attempt([Invoke("A.g")], [(_INTERRUPTED, [Log("failed")])])]
    program = program_of({"A": Type({"f": body, "g": wraps})})
    assert chain_in(program, "Socket.read", "failed") == [
        (CausalKind.EXTERNAL, "Socket.read"),
        (CausalKind.HANDLER, "catch (IOException)"),
        (CausalKind.INTERNAL, "throw InterruptedException"),
        (CausalKind.INTERNAL, "A.g"),
        (CausalKind.HANDLER, "catch (InterruptedException)"),
        (CausalKind.LOCATION, 'error("failed")'),
    ]


def test_a_missing_message_leads_to_what_may_throw_before_it():
    body = [Invoke("net.Socket.open", [IO]), Log("started", "info"), Invoke("net.Socket.close", [IO])]
    types = {"A": Type({"f": [Invoke("net.Socket.bind", [IO]), Invoke("A.g")], "g": body})}
    assert distances_in(program_of(types), missing=True) == {
        "A.f: Socket.bind": {"started": 3},
        "A.g: Socket.open": {"started": 1},
    }
    assert distances_in(program_of(types)) == {}


def test_what_a_handler_ends_is_skipped_and_what_it_goes_on_to_is_not():
    ends = Attempt([Invoke("net.Socket.open", [IO])], [(IO, [Return()])])
    goes_on = Attempt([Invoke("net.Socket.flush", [IO])], [(IO, [Log("ignored", "info")])])
    program = program_of({"A": Type({"f": [ends, goes_on, Log("started", "info")]})})
    found = distances_in(program, missing=True)
    assert found["A.f: Socket.open"]["started"] == 1
    assert wanted_in(program, "Socket.flush", "ignored") == ("IOException",)
    assert found["A.f: Socket.flush"]["started"] == 1  # by what is not caught


def test_a_write_that_an_exception_skips_decides_about_a_condition():
    types = {
        "A": Type(
            {
                "start": [Invoke("net.Socket.open", [IO]), Put("A.running")],
                "check": [If([Log("not running")], fields=["A.running"])],
            }
        )
    }
    assert distances_in(program_of(types)) == {"A.start: Socket.open": {"not running": 3}}

from tests.samples.jvm_programs import IO, Attempt, If, Invoke, Log, Make, Put, Return, Type, chain_in, program_of


def _texts(types, message):
    return [text for _, text in chain_in(program_of(types), "Socket.read", message)]


def test_a_condition_names_what_it_tests():
    state = [Attempt([Invoke("net.Socket.read", [IO])], [(IO, [Return(constant=0)])]), Return(constant=1)]
    types = {
        "shop.A": Type(
            {
                "run": [
                    Invoke("shop.A.isRunning", label="running"),
                    If([Log("stopped \x01, it was \x01")], fields=["shop.A.snapLog"], calls=["running"]),
                ],
                "isRunning": state,
            }
        )
    }
    assert _texts(types, "stopped \x01, it was \x01") == [
        "Socket.read",
        "catch (IOException)",
        "return 0",
        "if (…) on snapLog, isRunning()",
        'error("stopped …, it was …")',
    ]


def test_writes_objects_and_finally():
    handlers = [("", [Put("shop.A.broken"), Make("shop.B")])]
    types = {
        "shop.A": Type(
            {
                "f": [Attempt([Invoke("net.Socket.read", [IO])], handlers)],
                "g": [If([Log("broken")], fields=["shop.A.broken"])],
            }
        ),
        "shop.B": Type({"process": [Log("made", "")]}, interfaces=["net.Watcher"]),
    }
    assert _texts(types, "broken")[1:3] == ["finally", "A.broken = …"]
    assert _texts(types, "made")[1:] == ["finally", "new B", "B.process", 'print("made")']

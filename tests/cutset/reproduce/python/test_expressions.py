"""What can raise, and what is known of it."""

from pathlib import Path

from tests.samples.small_programs import read_app

from cutset.reproduce.python.syntax import EventKind


def in_function(body: str) -> str:
    return "def f(a, b, c):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def test_a_call_knows_what_is_done_with_its_result_and_what_it_is_given(tmp_path: Path):
    body = "a.alone()\nx = a.kept(b, key=c.run)\nreturn a.given('job %s', *b, **c)"
    program = read_app(tmp_path, in_function(body))
    calls = {event.expression: event for event in program.events if event.kind is EventKind.CALL}
    assert calls["a.alone"].alone
    kept = calls["a.kept"]
    assert (kept.alone, kept.assigned, kept.positional, kept.keywords) == (False, ("x",), 1, ("key",))
    assert kept.passed == ((0, ("b",)), ("key", ("c", "run")))
    given = calls["a.given"]
    assert (given.positional, given.keywords, given.texts) == (-1, ("**",), ((0, ("job %s",)),))


def test_awaits_yields_and_raises_can_raise(tmp_path: Path):
    program = read_app(
        tmp_path,
        "async def f(task, a):\n    await task\n    await a.go()\n    raise ValueError('x')\n\ndef g():\n    yield 1\n",
    )
    kinds = {event.expression: (event.kind, event.awaited) for event in program.events}
    assert kinds["await task"] == (EventKind.AWAIT, False)
    assert kinds["a.go"] == (EventKind.CALL, True)
    assert EventKind.RAISE in {event.kind for event in program.events}
    assert EventKind.YIELD in {event.kind for event in program.events}
    assert [function.generates for function in program.functions if function.name == "g"] == [True]


def test_equal_expressions_of_a_function_are_numbered_as_they_appear(tmp_path: Path):
    program = read_app(tmp_path, in_function("a.go()\na.go()\nb.go(a.go())"))
    assert [event.ordinal for event in program.events if event.expression == "a.go"] == [0, 1, 2]

import pytest
from tests.samples.jvm_programs import (
    DYNAMIC,
    INTERFACE,
    IO,
    Attempt,
    Declared,
    Invoke,
    Log,
    Make,
    Throw,
    Type,
    chain_in,
    distances_in,
    program_of,
)

_EXECUTION = "java.util.concurrent.ExecutionException"
_FUTURE = "java.util.concurrent.Future"
_EXECUTOR = "java.util.concurrent.ExecutorService"
_OUTSIDE = {
    "java.lang.Runnable": (),
    "java.util.concurrent.Callable": (),
    "java.lang.Thread": ("java.lang.Object", "java.lang.Runnable"),
    "java.util.function.Consumer": (),
    _FUTURE: (),
    _EXECUTOR: (),
    "java.util.concurrent.CompletableFuture": ("java.lang.Object", _FUTURE),
}
_READ = Invoke("net.Socket.read", [IO])
_LAMBDA = Invoke("A.lambda$f$0", opcode=DYNAMIC)


def _submit(handed, name="submit", kind="java/util/concurrent/Callable"):
    return Invoke(f"{_EXECUTOR}.{name}", descriptor=f"(L{kind};)L{_FUTURE.replace('.', '/')};", handed=[handed])


def _get(text="task failed"):
    return Attempt([Invoke(f"{_FUTURE}.get", [_EXECUTION])], [(_EXECUTION, [Log(text)])])


def _distances(types):
    return distances_in(program_of(types, _OUTSIDE))


def test_what_a_task_throws_comes_out_of_its_future():
    types = {"A": Type({"f": [_LAMBDA, _submit((0, 0, "A.lambda$f$0 ()V")), _get()], "lambda$f$0": [_READ]})}
    assert _distances(types)["A.lambda$f$0: Socket.read"] == {"task failed": 3}


def test_a_task_of_another_file_is_a_guess():
    types = {
        "A": Type({"f": [_get()]}),
        "B": Type({"g": [_submit((0, 0, "B.lambda$g$0 ()V"))], "lambda$g$0": [_READ]}),
    }
    assert _distances(types)["B.lambda$g$0: Socket.read"] == {"task failed": 5}


def test_an_object_that_is_submitted_is_called():
    types = {
        "A": Type({"f": [Make("A$Task"), _submit((0, 1, "A$Task")), _get()]}),
        "A$Task": Type({"call": [_READ], "other": [Throw(IO)]}, interfaces=["java.util.concurrent.Callable"]),
    }
    assert _distances(types)["A$Task.call: Socket.read"] == {"task failed": 3}
    assert "A$Task.other: throw IOException" not in _distances(types)


def test_a_future_that_is_failed_by_hand():
    failing = Attempt(
        [_READ], [(IO, [Invoke("java.util.concurrent.CompletableFuture.completeExceptionally", site=False)])]
    )
    types = {"A": Type({"f": [_get()], "g": [failing]})}
    assert _distances(types)["A.g: Socket.read"] == {"task failed": 5}


@pytest.mark.parametrize(
    ("starting", "task"),
    [
        (Invoke("A$Task.start"), Type({"run": [Log("running")]}, parent="java.lang.Thread")),
        (
            Invoke(
                "java.lang.Thread.<init>", descriptor="(Ljava/lang/Runnable;)V", handed=[(0, 1, "A$Task")], site=False
            ),
            Type({"run": [Log("running")]}, interfaces=["java.lang.Runnable"]),
        ),
        (_submit((0, 1, "A$Task"), "execute", "java/lang/Runnable"), Type({"run": [Log("running")]})),
        (Make("A$Task"), Type({"process": [Log("running")]}, interfaces=["net.Watcher"])),
    ],
)
def test_what_starts_a_task_is_prior_to_what_it_does(starting, task):
    body = [Attempt([_READ], [(IO, [starting])])]
    found = chain_in(program_of({"A": Type({"f": body}), "A$Task": task}, _OUTSIDE), "Socket.read", "running")
    assert [text for _, text in found][:2] == ["Socket.read", "catch (IOException)"]


def test_what_is_handed_to_code_outside_is_run_by_it():
    each = Invoke(
        "java.util.List.forEach",
        descriptor="(Ljava/util/function/Consumer;)V",
        handed=[(0, 0, "A.lambda$f$0 ()V")],
        site=False,
    )
    types = {"A": Type({"f": [Attempt([each], [(IO, [Log("failed")])])], "lambda$f$0": [_READ]})}
    assert _distances(types) == {"A.lambda$f$0: Socket.read": {"failed": 3}}


def test_a_lambda_is_called_by_who_calls_what_it_stands_for():
    retry = Declared([Attempt([Invoke("A$Action.go", opcode=INTERFACE)], [(IO, [Log("failed")])])], "(LA$Action;)V")
    types = {
        "A$Action": Type({"go": Declared([], access=0x401)}),
        "A": Type(
            {
                "f": [Invoke("A.retry", descriptor="(LA$Action;)V", handed=[(0, 0, "A.lambda$f$0 ()V")])],
                "retry": retry,
                "lambda$f$0": [_READ],
            }
        ),
    }
    assert _distances(types) == {"A.lambda$f$0: Socket.read": {"failed": 3}}


def test_a_call_that_may_reach_many_is_a_guess():
    many = {f"B{number}": Type({"go": [_READ]}, interfaces=["A$Action"]) for number in range(13)}
    call = Invoke("A$Action.go", opcode=INTERFACE)
    types = {
        "A$Action": Type({"go": Declared([], access=0x401)}),
        "A": Type({"f": [Attempt([call], [(IO, [Log("failed")])])]}),
    }
    assert _distances({**types, **many})["B7.go: Socket.read"] == {"failed": 5}
    few = dict(list(many.items())[:12])
    assert _distances({**types, **few})["B7.go: Socket.read"] == {"failed": 3}

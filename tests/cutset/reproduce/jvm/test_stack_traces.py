from tests.samples.jvm_programs import IO, Attempt, Declared, If, Invoke, Throw, Type, program_of

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.stack_traces import index_functions, sites_at, trace_ends

FILE, READ = "java.io.FileInputStream", "java.io.DataInputStream.readInt"
PROGRAM = program_of(
    {
        "org.shop.Journal": Type(
            {
                "commit": [Invoke("java.nio.channels.FileChannel.force", [IO]), If([Throw(IO)], fields=["a.b"])],
                "read": [Invoke(f"{FILE}.<init>", [IO]), Invoke(READ, [IO])],
                "size": Declared([Invoke(READ, [IO])], "()I"),
                "size ": Declared([Invoke(READ, [IO])], "()J"),
            }
        ),
        "org.shop.Writer": Type({"flush": [], "run": [], "lambda$run$0": []}),
    }
)
FUNCTIONS = index_functions(PROGRAM)
SITES_OF = {
    number: [site for site, row in enumerate(PROGRAM.site_rows) if row.method == number]
    for number in range(len(PROGRAM.functions))
}


def ends(*lines: str):
    return trace_ends(LogRecord(1, "", "", "", "", tuple(lines)), PROGRAM, FUNCTIONS)


def sites(*lines: str) -> list[str]:
    return [
        str(PROGRAM.sites[number]) for number in sites_at(ends(*lines)[0], PROGRAM, SITES_OF, ExceptionTypes(PROGRAM))
    ]


def test_the_root_cause_comes_first_with_its_whole_context():
    cause, wrapper = ends(
        "java.lang.IllegalStateException: stopped",
        "\tat org.shop.Writer.flush(Writer.java:401)",
        "\tat org.shop.Writer.lambda$run$0(Writer.java:601)",
        "\tat java.util.concurrent.FutureTask.run(FutureTask.java:264)",
        "\tat org.shop.Writer.run(Writer.java:501)",
        "Caused by: java.io.IOException: full",
        "\tat sun.nio.ch.FileDispatcherImpl.force0(Native Method)",
        "\tat java.nio.channels.FileChannel.force(FileChannel.java:9)",
        "\tat org.shop.Journal.commit(Journal.java:1)",
        "\t... 4 more",
    )
    assert (str(cause.origin), cause.origin.type, cause.message) == ("org.shop.Journal:1", IO, "full")
    assert cause.origin.context == "Journal.commit < Writer.flush < Writer.run.lambda < Writer.run"
    assert cause.callee == "force"
    assert wrapper.origin.context == "Writer.flush < Writer.run.lambda < Writer.run"


def test_recursion_is_one_function_of_a_context():
    frame = "\tat org.shop.Writer.flush(Writer.java:401)"
    (end,) = ends("a.AException", frame, frame, "\tat org.shop.Writer.run(Writer.java:501)")
    assert end.origin.context == "Writer.flush < Writer.run"


def test_what_is_not_of_the_program_has_no_place_in_it():
    assert ends("a.AException", "\tat io.netty.Channel.read(Channel.java:3)") == []
    assert ends("\tat org.shop.Writer.flush(Writer.java:401)") == []  # a stack, but of no exception


def test_a_call_is_found_by_its_line_and_by_the_frame_below():
    inside = f"\tat {READ}(DataInputStream.java:3)"
    assert sites("java.io.EOFException", inside, "\tat org.shop.Journal.read(Journal.java:102)") == [
        "org.shop.Journal::read::DataInputStream.readInt"
    ]
    assert sites("java.io.EOFException", "\tat org.shop.Journal.read(Journal.java:101)") == [
        "org.shop.Journal::read::FileInputStream.<init>"
    ]


def test_a_throw_statement_is_found_by_its_type_where_nothing_is_below():
    assert sites("java.io.IOException: x", "\tat org.shop.Journal.commit(Journal.java:3)") == [
        "org.shop.Journal::commit::throw IOException"
    ]


def test_a_call_that_is_on_another_line_by_now_is_found_by_its_name():
    inside = f"\tat {READ}(DataInputStream.java:3)"
    (end,) = ends("java.io.EOFException", inside, "\tat org.shop.Journal.read(Journal.java:177)")
    assert end.origin.line == 102


def test_lines_of_another_version_are_found_by_the_name_alone():
    (end,) = ends("a.AException", "\tat org.shop.Writer.flush(Writer.java:9999)")
    assert (end.origin.module, end.origin.line) == ("org.shop.Writer", 9999)


# -- causes without a stack --------------------------------------------------------------------------------------------

UNCHECKED = "java.lang.IllegalStateException"
WRAPPING = program_of(
    {
        "org.shop.Sender": Type(
            {
                "send": [
                    Invoke("net.Socket.flush", [IO]),
                    Attempt([Invoke("net.Socket.send", [IO]), Invoke("net.Socket.poll")], [(IO, [Throw("a.Wrapped")])]),
                ]
            }
        )
    },
    {"a.Wrapped": ("java.lang.RuntimeException",)},
)


def wrapped(kind: str, *frames: str) -> list[str]:
    functions = index_functions(WRAPPING)
    head = ("a.Wrapped: stopped", *(frames or ("\tat org.shop.Sender.send(Sender.java:4)",)))
    found = trace_ends(LogRecord(1, "", "", "", "", (*head, f"Caused by: {kind}: late")), WRAPPING, functions)
    assert found[-1].origin.type == "a.Wrapped"
    if not found[0].wrapped:
        return []
    assert (found[0].origin.type, found[0].message) == (kind, "late")
    numbers = sites_at(found[0], WRAPPING, {0: range(len(WRAPPING.sites))}, ExceptionTypes(WRAPPING))
    return [WRAPPING.sites[number].expression for number in numbers]


def test_a_cause_without_a_stack_came_from_a_call_whose_failure_was_wrapped():
    assert wrapped(IO) == ["Socket.send"]  # which declares it
    assert wrapped(UNCHECKED) == ["Socket.send", "Socket.poll"]  # nobody has to declare it
    assert wrapped("java.lang.InterruptedException") == []


def test_where_the_wrapper_was_made_outside_its_cause_is_not_known():
    assert wrapped(IO, "\tat a.Future.get(Future.java:9)", "\tat org.shop.Sender.send(Sender.java:4)") == []

from tests.samples.jvm_programs import IO, If, Invoke, Throw, Type, program_of

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.jvm.effects import effects_of
from cutset.reproduce.jvm.exception_types import ExceptionTypes

READ = Invoke("java.io.InputStream.read", [IO], descriptor="([B)I", label="read")
PROGRAM = program_of(
    {
        "shop.Journal": Type(
            {
                "load": [READ, If([Throw("java.lang.IllegalStateException")], calls=["read"])],
                "sum": [Invoke("com.google.common.math.LongMath.checkedAdd", descriptor="(JJ)J")],
                "close": [Invoke("java.io.InputStream.close", [IO])],
            }
        )
    }
)
NUMBERS = {str(site).removeprefix("shop.Journal::"): number for number, site in enumerate(PROGRAM.sites)}


def effects(site, *, kinds=tuple(FaultKind), failure=(), arising=None):
    found = effects_of(PROGRAM, ExceptionTypes(PROGRAM), failure, kinds, 2.5, arising=arising or {})
    return found(NUMBERS[site], ())


def test_exceptions_come_first_then_all_else_that_can_happen_where_something_is_waited_for():
    found = effects("close::InputStream.close")
    assert [effect.text for effect in found] == [
        'java.io.IOException("Input/output error")', "hang()", "delay(2.5)", "crash()",
    ]  # fmt: skip
    assert [effect.cost for effect in found] == [0, 2, 3, 4]


def test_a_wrong_value_that_the_code_tests_for_is_among_the_exceptions():
    found = {effect.text: effect for effect in effects("load::InputStream.read")}
    assert found["return(-1)"].cost == 2
    assert found["return(-1)"].why.endswith("the code tests for it")


def test_of_the_kinds_that_are_asked_for_only():
    assert [effect.text for effect in effects("load::InputStream.read", kinds=(FaultKind.CRASH,))] == ["crash()"]
    assert effects("load::throw IllegalStateException", kinds=(FaultKind.CRASH,)) == []


def test_nothing_happens_at_a_call_that_only_counts():
    assert effects("sum::LongMath.checkedAdd") == []


def test_a_throw_statement_throws_what_it_throws_and_the_log_tells_with_which_words():
    site, kind = "load::throw IllegalStateException", "java.lang.IllegalStateException"
    (plain,) = effects(site)
    assert (plain.text, plain.cost) == (f'{kind}("injected")', 2)
    (named,) = effects(site, failure=[LogRecord(1, "", "", "ERROR", f"{kind}: truncated")])
    assert (named.text, named.cost) == (f'{kind}("truncated")', 1)
    (shown,) = effects(site, arising={NUMBERS[site]: [f'{kind}("truncated")']})
    assert (shown.text, shown.cost) == (f'{kind}("truncated")', 0)


def test_where_something_timed_out_code_that_is_plugged_in_may_never_return():
    program = program_of(
        {
            "shop.Worker": Type(
                {"run": [Invoke("plug.Task.start"), Invoke("plug.Text.trim"), Invoke("java.util.List.add")]}
            )
        },
        {
            "plug.Task": ("java.lang.Object",),
            "plug.Text": ("java.lang.Object",),
            "java.util.List": ("java.lang.Object",),
        },
        abstract={"plug.Task", "java.util.List"},
    )

    def texts(*failure):
        found = effects_of(program, ExceptionTypes(program), failure, tuple(FaultKind), 2.5, arising={})
        return {str(site.expression): [each.text for each in found(n, ())] for n, site in enumerate(program.sites)}

    calm = LogRecord(1, "", "", "INFO", "the limit is timeout=30, nothing timed out")
    assert texts(calm) == {"Task.start": [], "Text.trim": [], "List.add": []}
    late = LogRecord(2, "", "", "WARN", "Request timed out: restart")
    assert texts(calm, late) == {"Task.start": ["hang()", "delay(2.5)", "crash()"], "Text.trim": [], "List.add": []}
    setting = LogRecord(2, "", "", "WARN", "session.timeout.ms = 30, timeout: 5")
    assert texts(setting)["Task.start"] == []

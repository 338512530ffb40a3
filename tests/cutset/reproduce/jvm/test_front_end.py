import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.samples.jvm_programs import IO, Attempt, Invoke, Log, Type, program_of

from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished
from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import Grade, ReproductionResult
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.jvm.front_end import JvmAnalysis, JvmFrontEnd
from cutset.reproduce.jvm.jar import find_java
from cutset.reproduce.loop import reproduce
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings

FORCE = "java.nio.channels.FileChannel.force"
ANALYSIS = JvmAnalysis(
    program_of(
        {
            "org.shop.Journal": Type({"commit": [Invoke(FORCE, [IO])]}),
            "org.shop.Writer": Type(
                {"run": [Attempt([Invoke("org.shop.Journal.commit")], [(IO, [Log("cannot commit \x01")])])]}
            ),
        }
    )
)
TRACE = (
    "java.io.IOException: No space left on device",
    "\tat org.shop.Journal.commit(Journal.java:1)",
    "\tat org.shop.Writer.run(Writer.java:101)",
)
FAILURE = [LogRecord(1, "Writer-3", "org.shop.Writer", "ERROR", "cannot commit 7", TRACE)]


def test_a_record_is_recognised_by_its_statement_and_by_its_stack_trace():
    said, raised = ANALYSIS.recognise(FAILURE[0])
    assert said.key == "org.shop.Writer:102 says java.io.IOException"
    assert raised.key == "raised at org.shop.Journal:1"


def test_what_a_stack_trace_shows_is_tried_where_it_shows_it():
    (number,) = ANALYSIS.arising(FAILURE)
    effect = 'java.io.IOException("No space left on device")'
    assert str(ANALYSIS.sites[number]) == "org.shop.Journal::commit::FileChannel.force"
    assert ANALYSIS.arising(FAILURE) == {number: [effect]}
    assert ANALYSIS.contexts(FAILURE) == {number: ["Journal.commit < Writer.run"]}
    first = ANALYSIS.effects(FAILURE, tuple(FaultKind), 2.5)(number, [IO])[0]
    assert (first.text, first.cost) == (effect, 0)


def test_what_the_jvm_throws_for_a_null_is_not_of_a_call():
    said = 'java.lang.NullPointerException: Cannot invoke "java.nio.channels.FileChannel.force()" because it is null'
    null = [LogRecord(1, "Writer-3", "org.shop.Writer", "ERROR", "cannot commit 7", (said, *TRACE[1:]))]
    assert ANALYSIS.arising(null) == ANALYSIS.contexts(null) == {}


def test_of_several_calls_on_a_line_the_one_that_declares_the_exception_is_shown():
    calls = [Invoke("java.io.FileOutputStream.getChannel"), Invoke(FORCE, [IO], beside=True)]
    analysis = JvmAnalysis(program_of({"org.shop.Journal": Type({"commit": calls})}))
    assert [str(analysis.sites[number]) for number in analysis.arising(FAILURE)] == [
        "org.shop.Journal::commit::FileChannel.force"
    ]


def test_of_several_messages_of_one_type_the_first_is_tried():
    again = LogRecord(9, "Writer-3", "org.shop.Writer", "ERROR", "cannot commit 8", (f"{IO}: gone", *TRACE[1:]))
    assert ANALYSIS.arising([*FAILURE, again]) == ANALYSIS.arising(FAILURE)


def test_causes_lead_from_the_message_to_the_call():
    graph = ANALYSIS.causal_graph(ANALYSIS.recognise(FAILURE[0]))
    waiting = list(graph.sources["org.shop.Writer:102 says java.io.IOException"])
    for node in waiting:  # grows
        waiting += [prior for prior in graph.priors(node) if prior not in waiting]
    assert 0 in {graph.node(node).site for node in waiting}


def test_lines_of_records_are_those_of_a_logger():
    log = "starting\n2026-11-18 12:00:00,000 INFO  [main] org.shop.Shop: up\nprinted\n"
    assert JvmFrontEnd().record_lines(log) == [2]


def logged(moment: int, function: str, message: str, *trace: str) -> str:
    """As java.util.logging writes it."""
    return "\n".join([f"Nov 18, 2026 1:02:{moment:02} PM orders.{function}", message, *trace, ""])


FAILURE_LOG = "".join(
    [
        *(logged(1, "Clerk write", f"INFO: order {order} is taken") for order in (1, 2, 3)),
        logged(
            2,
            "Clerk write",
            "WARNING: cannot write order 4, trying again",
            "java.io.IOException: No space left on device",
            "\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)",
            "\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:349)",
            "\tat orders.Journal.flush(Journal.java:25)",
            "\tat orders.Journal.append(Journal.java:21)",
            "\tat orders.Clerk.write(Clerk.java:40)",
            "\tat orders.Clerk.run(Clerk.java:31)",
            "\tat java.base/java.lang.Thread.run(Thread.java:840)",
        ),
        *(logged(2, "Clerk write", f"INFO: order {order} is taken") for order in (5, 6)),
        logged(3, "Shop main", "SEVERE: 1 orders are lost"),
    ]
)


def search(case: FailureCase, folder: Path) -> ReproductionResult:
    async def events() -> list[ReproductionEvent]:
        subject = await read_subject(case, JvmFrontEnd())
        settings = ReproductionSettings(rounds=30, closer=4, repeats=1)
        return [event async for event in reproduce(subject, settings, folder)]

    finished = asyncio.run(events())[-1]
    assert isinstance(finished, ReproductionFinished)
    return finished.result


def test_a_whole_search_finds_the_write_that_loses_an_order(jar: Path, compiled: Callable[..., Path], tmp_path: Path):
    classes, java = str(compiled("orders")), find_java()
    workload = Workload((java, "-Xmx64m", "-cp", classes, "orders.Shop"), timeout_s=30)
    oracle = parse_oracle('log:"orders are lost"')
    case = FailureCase((classes,), (classes,), (), FAILURE_LOG, workload, oracle, runtime=java)
    best = search(case, tmp_path / "runs").best
    assert best is not None
    (fault,) = best.faults
    assert str(fault.site) == "orders.Journal::flush::FileOutputStream.write"
    assert fault.effect == 'java.io.IOException("No space left on device")'
    assert fault.at_site.within == "Journal.flush < Journal.append < Clerk.write < Clerk.run < @clerk"
    assert fault.at_site.occurrence == 3  # orders 3 and 4
    assert best.grade is Grade.LOG


BRANCHES_LOG = "".join(
    [
        *(logged(1, "Branch take", f"INFO: order {order} is taken") for order in (1, 2, 3, 1)),
        logged(2, "Branch take", "WARNING: cannot write order 2: No space left on device"),
        logged(2, "Branch take", "INFO: order 3 is taken"),
        logged(3, "Branches main", "SEVERE: south has lost an order"),
    ]
).replace("orders.", "branches.")


def test_a_search_finds_which_of_several_jvms_it_was(jar: Path, compiled: Callable[..., Path], tmp_path: Path):
    classes, java = str(compiled("branches")), find_java()
    workload = Workload((java, "-Xmx64m", "-cp", classes, "branches.Branches"), timeout_s=30)
    oracle = parse_oracle('log:"south has lost"')
    case = FailureCase((classes,), (classes,), (), BRANCHES_LOG, workload, oracle, runtime=java)
    best = search(case, tmp_path / "runs").best
    assert best is not None
    (fault,) = best.faults
    assert str(fault.site) == "branches.Branch::take::FileOutputStream.write"
    assert fault.at_site.within == "Branch.take < Branch.main < @main in JVM 2"
    assert fault.at_site.occurrence == 2
    assert best.grade is Grade.LOG


def test_what_must_have_failed_for_a_message_is_called_in_its_try():
    said, raised = ANALYSIS.recognise(FAILURE[0])
    assert ANALYSIS.called_before(said) == {"commit"}
    assert ANALYSIS.called_before(raised) == frozenset()
    assert ANALYSIS.called_before(replace(said, missing=True)) == frozenset()

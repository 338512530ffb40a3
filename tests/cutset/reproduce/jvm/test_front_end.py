from tests.samples.jvm_programs import IO, Attempt, Invoke, Log, Type, program_of

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.jvm.front_end import JvmAnalysis, JvmFrontEnd

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
    assert said.key == "org.shop.Writer:102"
    assert raised.key == "raised at org.shop.Journal:1"


def test_what_a_stack_trace_shows_is_tried_where_it_shows_it():
    (number,) = ANALYSIS.arising(FAILURE)
    effect = 'java.io.IOException("No space left on device")'
    assert str(ANALYSIS.sites[number]) == "org.shop.Journal::commit::FileChannel.force"
    assert ANALYSIS.arising(FAILURE) == {number: [effect]}
    assert ANALYSIS.contexts(FAILURE) == {number: ["Journal.commit < Writer.run"]}
    first = ANALYSIS.effects(FAILURE, tuple(FaultKind), 2.5)(number, [IO])[0]
    assert (first.text, first.cost) == (effect, 0)


def test_of_several_calls_on_a_line_the_one_that_declares_the_exception_is_shown():
    calls = [Invoke("java.io.FileOutputStream.getChannel"), Invoke(FORCE, [IO], beside=True)]
    analysis = JvmAnalysis(program_of({"org.shop.Journal": Type({"commit": calls})}))
    assert [str(analysis.sites[number]) for number in analysis.arising(FAILURE)] == [
        "org.shop.Journal::commit::FileChannel.force"
    ]


def test_causes_lead_from_the_message_to_the_call():
    graph = ANALYSIS.causal_graph(ANALYSIS.recognise(FAILURE[0]))
    waiting = list(graph.sources["org.shop.Writer:102"])
    for node in waiting:  # grows
        waiting += [prior for prior in graph.priors(node) if prior not in waiting]
    assert 0 in {graph.node(node).site for node in waiting}


def test_lines_of_records_are_those_of_a_logger():
    log = "starting\n2026-11-18 12:00:00,000 INFO  [main] org.shop.Shop: up\nprinted\n"
    assert JvmFrontEnd().record_lines(log) == [2]

import re
from dataclasses import replace
from html import unescape

import htpy as h
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.reproduction import MESSAGES, WRITE, fault

from cutset.model.reproduction.result import CausalKind, CausalStep, FailureMessage
from cutset.report.reproduction.causal_graph import MOST_LETTERS, MOST_ROWS, causal_graph, highlights

STEP = re.compile(r'<li class="step chained ([^"]*)">(.*?)</li>', re.DOTALL)


def drawn(*arguments: object) -> str:
    return str(h.div[causal_graph(*arguments)])  # type: ignore[arg-type]


def rows(graph: str) -> list[tuple[str, str]]:
    """Kind, without the messages that follow, and text of each step, from above."""
    return [
        (re.sub(r" m\d+", "", kind), unescape(re.sub("<[^>]*>", "", inside))) for kind, inside in STEP.findall(graph)
    ]


def test_chains_that_begin_alike_are_one_tree_with_the_fault_on_top_and_messages_at_the_ends() -> None:
    found = rows(drawn([fault()], MESSAGES))

    assert [kind for kind, _ in found] == [
        *("external root", "message"),  # the message that is no longer logged follows at once
        *("internal", "handler"),
        *("location", "message"),
        *("location inferred", "condition inferred", "message inferred"),
    ]
    assert "file.write  ⟶  OSError(28, 'No space left on device')" in found[0][1]


def test_what_parts_from_the_longest_branch_turns_into_the_next_column() -> None:
    rails = [
        re.findall(r'class="(rail[^"]*|own[^"]*)"', inside) for _, inside in STEP.findall(drawn([fault()], MESSAGES))
    ]

    assert rails[0] == ["own goes-on"]  # nothing is above a fault
    assert rails[1] == ["rail turn", "own"]  # and nothing follows from a message
    assert rails[2] == ["own from-above goes-on"]
    assert rails[4:6] == [["rail turn inferred", "own goes-on"], ["rail inferred", "own from-above"]]


def test_what_nobody_saw_is_dashed_and_says_so_in_words_and_in_the_legend() -> None:
    graph = drawn([fault()], MESSAGES)
    inferred = [kind for kind, text in rows(graph) if "inferred" in text]

    assert inferred == ["location inferred", "condition inferred"]
    assert "own from-above goes-on inferred" in graph  # the line from the handler to it
    assert "inferred from the source" in graph[graph.index('class="legend') :]
    seen = replace(MESSAGES[1], chain=tuple(replace(step, observed=True) for step in MESSAGES[1].chain))
    assert "inferred" not in drawn([fault()], [seen])


def test_each_step_has_the_class_of_every_message_that_follows_from_it() -> None:
    graph = drawn([fault()], MESSAGES)
    classes = [kind for kind, _ in STEP.findall(graph)]

    assert classes[0] == "external root m0 m1 m2 m4"
    assert classes[-1] == "message inferred m1 m2"
    assert ".m1:is(:hover,:focus-within,:target)) .m1{" in str(highlights(len(MESSAGES)))


def test_equal_messages_are_one_with_links_to_all_their_lines_that_are_shown() -> None:
    graph = drawn([fault()], MESSAGES, {7})

    assert "failure log, lines 7, 8" in rows(graph)[-1][1]
    assert '<a href="#log-7">7</a>' in graph
    assert "#log-8" not in graph


def test_a_message_that_the_run_lacks_looks_different() -> None:
    lacking = replace(MESSAGES[0], shown=False)

    assert rows(drawn([fault()], [lacking]))[-1][0] == "message lacking inferred"


def test_messages_without_a_chain_are_counted() -> None:
    assert "Not drawn: 1 message that no known causal chain leads to" in drawn([fault()], MESSAGES)


def test_without_any_chain_there_is_no_graph() -> None:
    assert causal_graph([fault()], [MESSAGES[3]]) is None


def test_each_kind_of_node_has_a_name_in_the_legend_and_words_of_its_own() -> None:
    chain = tuple(CausalStep(kind, "m", "f", line, "x") for line, kind in enumerate(CausalKind, start=1))
    graph = drawn([fault()], [FailureMessage(1, "text", True, False, chain)])

    legend = graph[graph.index('class="legend') :]
    assert all(f" {kind}</span>" in legend for kind in CausalKind)
    assert len(set(re.findall("<b>(.*?)</b>", graph))) == len(CausalKind) + 1


def test_two_faults_are_two_trees() -> None:
    other = CausalStep(CausalKind.EXTERNAL, "net", "send", 3, "sock.send")
    second = replace(fault(), site=replace(fault().site, module="net", line=3), effect="hang()")
    messages = [MESSAGES[0], replace(MESSAGES[1], chain=(other,))]

    assert [kind for kind, _ in rows(drawn([fault(), second], messages))].count("external root") == 2


def test_long_code_is_bounded() -> None:
    code = "call(" + "argument, " * 1_000
    [step, _] = rows(drawn([], [replace(MESSAGES[0], chain=(replace(WRITE, text=code),))]))

    assert len(step[1]) < MOST_LETTERS + 100
    assert "more)" in step[1]


def test_a_very_long_chain_is_drawn_in_part_and_says_so() -> None:
    chain = tuple(CausalStep(CausalKind.LOCATION, "m", "f", line, "x") for line in range(3_000))
    graph = drawn([], [replace(MESSAGES[0], chain=chain)])

    assert len(rows(graph)) == MOST_ROWS
    assert f"Not drawn: {3_001 - MOST_ROWS:,} more steps" in graph


@given(st.text(), st.text(), st.text())
def test_any_text_is_text(function: str, code: str, message: str) -> None:
    node = CausalStep(CausalKind.NEW, "m", function, 1, code)
    graph = drawn([replace(fault(), effect=code)], [FailureMessage(1, message, True, False, (node,))])
    plain = drawn([fault()], [FailureMessage(1, "m", True, False, (replace(node, function="f", text="c"),))])

    assert re.findall("<[a-z]+", graph) == re.findall("<[a-z]+", plain)

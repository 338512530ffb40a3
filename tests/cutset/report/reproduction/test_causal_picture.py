from dataclasses import replace
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from tests.samples.reproduction import MESSAGES, WRITE, fault

from cutset.model.reproduction.result import CausalKind, CausalStep, FailureMessage
from cutset.report.reproduction.causal_picture import LETTERS, MOST_ROWS, draw_causes

SVG = "{http://www.w3.org/2000/svg}"


def rows(svg: str) -> list[tuple[str, str]]:
    """Class and tooltip of each step, from above."""
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return [
        (group.get("class", ""), title.text or "")
        for group in groups
        if (title := group.find(f"{SVG}title")) is not None
    ]


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter(f"{SVG}text")]


def test_chains_that_begin_alike_are_one_tree_with_the_fault_on_top_and_messages_at_the_ends() -> None:
    drawn = rows(draw_causes([fault()], MESSAGES))

    assert [style for style, _ in drawn] == [
        *("external root", "message"),  # the message that is no longer logged follows at once
        *("internal", "handler"),
        *("location", "message"),
        *("location", "condition", "message"),
    ]
    assert "file.write  ⟶  OSError(28, 'No space left on device')" in drawn[0][1]


def test_equal_messages_are_one_with_all_their_lines() -> None:
    drawn = rows(draw_causes([fault()], MESSAGES))

    assert "failure log, lines 7, 8" in drawn[-1][1]


def test_a_message_that_the_run_lacks_looks_different() -> None:
    lacking = replace(MESSAGES[0], shown=False)

    assert rows(draw_causes([fault()], [lacking]))[-1][0] == "message lacking"


def test_messages_without_a_chain_are_counted() -> None:
    assert "Not drawn: 1 message that no known causal chain leads to" in texts(draw_causes([fault()], MESSAGES))


def test_without_any_chain_there_is_no_picture() -> None:
    assert draw_causes([fault()], [MESSAGES[3]]) == ""


def test_each_kind_of_node_has_a_name_in_the_legend_and_words_of_its_own() -> None:
    chain = tuple(CausalStep(kind, "m", "f", line, "x") for line, kind in enumerate(CausalKind, start=1))
    svg = draw_causes([fault()], [FailureMessage(1, "text", True, False, chain)])

    assert set(CausalKind) <= set(texts(svg))
    assert len({tooltip.split("\n")[0] for _, tooltip in rows(svg)}) == len(CausalKind) + 1


def test_two_faults_are_two_trees() -> None:
    other = CausalStep(CausalKind.EXTERNAL, "net", "send", 3, "sock.send")
    second = replace(fault(), site=replace(fault().site, module="net", line=3), effect="hang()")
    messages = [MESSAGES[0], replace(MESSAGES[1], chain=(other,))]

    assert [style for style, _ in rows(draw_causes([fault(), second], messages))].count("external root") == 2


def test_long_code_is_shortened_and_the_tooltip_has_more() -> None:
    code = "call(" + "argument, " * 50
    svg = draw_causes([], [replace(MESSAGES[0], chain=(replace(WRITE, text=code),))])

    assert code in rows(svg)[0][1]
    assert all(len(text) < LETTERS + 50 for text in texts(svg))


def test_a_very_long_chain_is_drawn_in_part_and_says_so() -> None:
    chain = tuple(CausalStep(CausalKind.LOCATION, "m", "f", line, "x") for line in range(3_000))
    svg = draw_causes([], [replace(MESSAGES[0], chain=chain)])

    assert len(rows(svg)) == MOST_ROWS
    assert f"Not drawn: {3_001 - MOST_ROWS:,} more steps" in texts(svg)


@given(st.text(), st.text(), st.text())
def test_any_text_gives_a_picture_that_can_be_read(function: str, code: str, message: str) -> None:
    node = CausalStep(CausalKind.NEW, "m", function, 1, code)
    svg = draw_causes([replace(fault(), effect=code)], [FailureMessage(1, message, True, False, (node,))])

    svg.encode()  # no lone surrogates
    assert len(rows(svg)) == 2

from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.reproduction import ESCAPE, WRITE, faithful, fault, reproduction, result

from cutset.model.reproduction.result import CausalStep, LogAgreement, LogLine, ReproductionResult
from cutset.model.reproduction.site import SiteKind
from cutset.report.reproduction.words import (
    any_of,
    circumstances,
    conclusion,
    differing_lines,
    differing_lines_left_out,
    effort,
    equally_good,
    excerpt,
    in_one_line,
    inferred,
    inferred_in_words,
    less_alike,
    ordinal,
    repeats,
    what_happened,
)

GONE = Path("/gone")
LOG, SYMPTOM = faithful(GONE), reproduction(GONE)
MESSAGES = replace(LOG, agreement=LogAgreement(values=1))
NOTHING = "nothing of the failure log is lacking, and nothing contradicts it"
TWO_MESSAGES = "its log differs from the failure log in 2 messages, and values of 1"
SAME_MESSAGES = "its log has the messages of the failure log, but 1 message has other values or is elsewhere"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (result(None), "no fault was found that shows the symptom"),
        (result(LOG), f"{NOTHING}: as far as the log tells, this is what caused it"),
        (result(LOG, LOG), f"{NOTHING}; but others explain it as well"),
        (result(replace(LOG, repeats=0)), f"{NOTHING}; it was not tried again, so it may be a coincidence"),
        (
            result(MESSAGES),
            f"{SAME_MESSAGES}: as far as messages tell, this is what failed, perhaps at another moment",
        ),
        (result(MESSAGES, replace(MESSAGES, round=9)), f"{SAME_MESSAGES}; but others explain it as well"),
        (result(replace(MESSAGES, repeats=0)), f"{SAME_MESSAGES}; it was not tried again, so it may be a coincidence"),
        (
            result(SYMPTOM),
            f"{TWO_MESSAGES}, so this is a cause, perhaps not the cause",
        ),
        (
            result(replace(LOG, repeated=0)),
            "a fault showed the symptom once, but no repeat does: for all that is known, a coincidence",
        ),
    ],
)
def test_no_more_is_concluded_than_is_known(found: ReproductionResult, words: str) -> None:
    assert conclusion(found) == words
    assert ("caused" in words) == (found.reproduced and not found.equals and "log tells" in words)


def test_repeats_are_told_as_they_were() -> None:
    told = [
        repeats(replace(LOG, repeats=of, repeated=number)) for of, number in ((0, 0), (1, 1), (5, 5), (5, 1), (2, 0))
    ]

    assert told == [
        "it was not tried again",
        "1 of 1 repeat shows it",
        "5 of 5 repeats show it",
        "only 1 of 5 repeats shows it",
        "0 of 2 repeats show it",
    ]


def test_the_lines_that_differ_are_shown_and_the_rest_is_counted() -> None:
    many = LogAgreement(lacking=tuple(LogLine(line, "lost") for line in range(1, 30)), added=(LogLine(4, "new"),))
    lines = differing_lines(many)

    assert lines[0] == ("–", "lacks line 1", "lost")
    assert lines[-1] == ("+", "adds line 4", "new")
    assert differing_lines_left_out(replace(SYMPTOM, unlike=30, agreement=many)) == 30 - len(lines)


def test_what_explains_as_much_is_told_together_and_the_rest_apart() -> None:
    second, third = (replace(LOG, round=number) for number in (8, 9))
    worse = replace(SYMPTOM, group="a full disk")

    assert any_of(result(LOG)) == ""
    assert any_of(result(LOG, second)) == "Either of these two explains the log as well"
    assert any_of(result(LOG, second, third)) == "Any of these three explains the log as well"
    assert any_of(result(SYMPTOM, *([SYMPTOM] * 11))) == "Any of these 12 explains the symptom as well"
    later = replace(MESSAGES, agreement=LogAgreement(values=7))
    assert any_of(result(MESSAGES, later, worse)) == "Either of these two explains the messages as well"
    found = result(LOG, worse, second)
    assert equally_good(found) == [LOG, second]
    assert less_alike(found) == [("a full disk", [worse])]


def test_what_ended_a_search_early_is_told() -> None:
    assert effort(replace(result(LOG), stopped="it was interrupted")).endswith("; ended early: it was interrupted")


@pytest.mark.parametrize(
    ("within", "nth", "words"),
    [
        ("", 0, "the 7th time it gets there"),
        ("queue.py:push", 7, "the 7th time it gets there"),
        ("queue.py:push", 3, "the 3rd time it gets there within `queue.py:push` (the 7th in all)"),
        ("queue.py:push < crawl.py:run", 3, "the 3rd time it gets there within `crawl.py:run` (the 7th in all)"),
        ("queue.py:push < crawl.py:run", 7, "the 7th time it gets there within `crawl.py:run`"),
    ],
)
def test_an_occurrence_is_told_within_its_calling_context(within: str, nth: int, words: str) -> None:
    told = fault(occurrence=7, within=within, nth=nth)

    assert circumstances(told) == f"{words}, in MainThread of the workload's own process"
    assert in_one_line(reproduction(GONE, told)).endswith(f"in `DiskQueue._write_index` (diskqueue:11), {words}")


@pytest.mark.parametrize(
    ("chain", "guessed", "words"),
    [
        ((WRITE, ESCAPE), [False, False], "every step ran"),
        ((WRITE, replace(ESCAPE, observed=None)), [False, True], "1 of 2 steps inferred"),
        ((replace(WRITE, observed=None), replace(ESCAPE, observed=False)), [False, True], "1 of 2 steps inferred"),
    ],
)
def test_a_step_that_nobody_saw_is_inferred_but_the_fault_did_fire(
    chain: tuple[CausalStep, ...], guessed: list[bool], words: str
) -> None:
    assert inferred(chain) == guessed
    assert inferred_in_words(chain) == words


@pytest.mark.parametrize(
    ("effect", "kind", "words"),
    [
        ("hang()", SiteKind.CALL, "`file.write` never comes back"),
        ("delay(2.5)", SiteKind.CALL, "`file.write` takes 2.5 s longer"),
        ("crash()", SiteKind.CALL, "the process dies at `file.write`"),
        ("return(None)", SiteKind.CALL, "`file.write` returns `None`, whatever it should"),
        ("return((1, ()))", SiteKind.CALL, "`file.write` returns `(1, ())`, whatever it should"),
        ("OSError(5)", SiteKind.AWAIT, "awaiting `file.write` raises `OSError(5)`"),
        ("OSError(5)", SiteKind.RAISE, "`raise file.write` is reached: `OSError(5)`"),
    ],
)
def test_faults_of_all_kinds_have_words(effect: str, kind: SiteKind, words: str) -> None:
    assert what_happened(fault(site=replace(fault().site, kind=kind), effect=effect)) == words


def test_source_that_is_gone_or_is_none_has_no_excerpt(tmp_path: Path) -> None:
    assert excerpt(replace(fault().site, path=str(tmp_path / "gone.py"))) == []
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    assert excerpt(replace(fault().site, path=str(tmp_path / "binary.py"))) == []


def test_a_call_of_many_lines_is_shown_by_its_first_ones(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("x\n" * 100)

    lines = excerpt(replace(fault().site, path=str(tmp_path / "long.py"), line=10, end_line=90))

    assert [number for number, _, _ in lines] == list(range(7, 18))
    assert [number for number, _, is_site in lines if is_site] == list(range(10, 15))


def test_numbers_have_the_right_endings() -> None:
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112, 1_003)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th", "1,003rd"]
    )

from dataclasses import replace
from pathlib import Path

from tests.samples.reproduction import MESSAGES, faithful, fault, reproduction, result, sample

from cutset.report.markdown import MOST_CHARACTERS
from cutset.report.reproduction.markdown import MOST_MESSAGES, to_markdown


def test_it_answers_the_questions_in_order(tmp_path: Path) -> None:
    other = reproduction(tmp_path, fault(occurrence=4), group="a full disk", unlike=3)
    text = to_markdown(replace(sample(tmp_path), alternatives=(other,)), ".cutset/reproductions/1/replay")

    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "# ≈ The symptom is reproduced: `file.write` raises `OSError(28, 'No space left on device')`",
        "## What, where, when",
        "## Why it is believed",
        "## How the log follows from it",
        "## Other causes with the same symptom, whose logs are less alike",
        "## What to do next",
    ]
    assert "▸    11              file.write(" in text
    assert "  1. handler catches it: `except OSError`" in text
    assert "  1. *inferred:* this runs: `self.broken = True`" in text
    assert "- – lacks line 9: `compacted`\n- + adds line 9: `not compacted`" in text
    assert "no causal chain to it is known" in text
    assert "python .cutset/reproductions/1/replay/replay.py" in text


def test_what_explains_as_much_is_listed_together(tmp_path: Path) -> None:
    best, equal = (faithful(tmp_path, fault(occurrence=number)) for number in (3, 4))
    text = to_markdown(result(best, equal))

    assert text.startswith("# ✓ The log is reproduced: `file.write` raises")
    assert "## Either of these two explains the log as well\n\n- `file.write` raises" in text
    assert "less alike" not in text


def test_what_no_repeat_shows_is_not_reproduced(tmp_path: Path) -> None:
    text = to_markdown(result(faithful(tmp_path, repeated=0)))

    assert text.startswith("# ? Not reproduced\n\n0 of 2 repeats show it")
    assert "## What was seen once" in text


def test_a_search_that_found_nothing_says_so_and_what_may_help() -> None:
    text = to_markdown(result(None))

    assert text.startswith("# ? Not reproduced\n")
    assert "`--rounds`" in text


def test_hostile_logs_stay_text_and_bounded(tmp_path: Path) -> None:
    hostile = "```\n# heading <script>alert(1)</script> @all " + "x" * 10_000
    messages = tuple(replace(each, text=hostile, line=line) for line in range(100) for each in MESSAGES)
    text = to_markdown(result(reproduction(tmp_path, fault(effect=hostile, why=hostile), messages=messages)))

    assert len(text) <= MOST_CHARACTERS
    assert "\n# heading" not in text
    assert f"and {len(messages) - MOST_MESSAGES:,} more messages" in text

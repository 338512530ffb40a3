import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text
from tests.samples.reproduction import MESSAGES, fault, reproduction, result, sample

from cutset.model.reproduction.site import SiteKind
from cutset.report.reproduction.terminal import MESSAGES_SHOWN, excerpt, ordinal, to_document, to_lines, what_happened

EXPECTED = """\
✗ Reproduced  12 rounds, 34 s

What   `file.write` raises `OSError(28, 'No space left on device')`
       the 3rd time it gets there, in MainThread of the workload's own process
       why this was tried: the log names it
Where  {folder}/diskqueue.py:11 in DiskQueue._write_index
             8 │ {nothing}
             9 │     def _write_index(self):
            10 │         with open("index", "w") as file:
       ▸    11 │             file.write(
       ▸    12 │                 str(len(self.items))
       ▸    13 │             )
            14 │ {nothing}
       workload.py:7 in <module>
       diskqueue.py:4 in push
       diskqueue.py:11 in _write_index
When   after 2 log lines; in the failure log, that is about line 3 of 9

Why    the oracle `log:kept 3` holds: line 9 of the output matches
       tried again, the symptom showed 2 of 2 times
       4 of 5 messages that set the failure log apart from good runs show again
       found in round 7 of 12

How the log follows from it
  ✓ line 3      cannot write the index: [Errno 28]
      library call fails at diskqueue:11 → 2 steps → this runs at diskqueue:6
  ✓ line 7      queue is read-only, dropping item
      library call fails at diskqueue:11 → 3 steps → condition decides at diskqueue:3
  ✓ line 8      queue is read-only, dropping item
      library call fails at diskqueue:11 → 3 steps → condition decides at diskqueue:3
  – line 9      compacted
      no causal chain to it is known
  ✓ no longer logged  pushed item
      library call fails at diskqueue:11

Next   python out/replay/replay.py
       pytest out/replay/test_reproduction.py  fails until it is fixed
report out/report.html"""


def plain(lines: list[str]) -> str:
    return "\n".join(Text.from_markup(line).plain for line in lines)


def test_a_terminal_shows_what_where_when_why_and_what_to_do_next(tmp_path: Path) -> None:
    files = {"report": Path("out/report.html"), "replay": Path("out/replay/replay.py")}

    assert plain(to_lines(sample(tmp_path), files=files)) == EXPECTED.format(folder=tmp_path, nothing="")


def test_commands_can_be_copied_into_a_shell(tmp_path: Path) -> None:
    lines = plain(to_lines(sample(tmp_path), files={"replay": Path("my [out]/it's/replay.py")}))

    commands = [shlex.split(line.removeprefix("Next"), comments=True) for line in lines.splitlines()[-2:]]
    assert commands[0] == ["python", "my [out]/it's/replay.py"]
    assert commands[1][:2] == ["pytest", "my [out]/it's/test_reproduction.py"]


def test_a_search_that_found_nothing_says_how_far_it_got_and_what_may_help() -> None:
    lines = plain(to_lines(result(None), files={}))

    assert lines.startswith("? Not reproduced  12 rounds, 34 s\n  12 rounds tried 11 faults at 5 sites\n")
    assert "--rounds" in lines
    assert "`--source` named diskqueue" in lines
    assert "another log" in lines


def test_text_of_others_is_no_markup_and_no_commands_for_the_terminal(tmp_path: Path) -> None:
    hostile = "[bold]x[/] \x1b[2J [/foo] \\"
    best = reproduction(
        tmp_path,
        fault(thread=hostile, effect=hostile, why=hostile, stack=(hostile,)),
        reason=hostile,
        messages=(replace(MESSAGES[0], text=hostile),),
        group=hostile,
    )
    lines = to_lines(result(best, best), files={})

    assert plain(lines).count("[bold]x[/]  [2J [/foo] \\") == 8
    assert "\x1b" not in "".join(lines)


def test_two_faults_are_told_one_after_the_other(tmp_path: Path) -> None:
    lines = plain(to_lines(result(reproduction(tmp_path, fault(), fault(effect="hang()"))), files={}))

    assert "Two faults together, the second on top of the first\n" in lines
    assert "What   `file.write` never comes back" in lines


def test_alternatives_are_grouped_and_what_was_simplified_is_told(tmp_path: Path) -> None:
    one, other, third = (
        reproduction(tmp_path, fault(occurrence=number), group=group)
        for number, group in ((4, "a full disk"), (5, "a slow disk"), (6, "a full disk"))
    )
    found = result(
        reproduction(tmp_path), one, other, third, first=reproduction(tmp_path, fault(effect="crash()"), round=2)
    )
    lines = plain(to_lines(found, files={}))

    site = "diskqueue::DiskQueue._write_index::file.write"
    assert f"Simplified\n  found first, in round 2: crash() at {site}, occurrence 3\n" in lines
    full = [f"  OSError(28, 'No space left on device') at {site}, occurrence {number}  round 7\n" for number in (4, 6)]
    assert "Shows the same  a full disk\n" + "".join(full) in lines


def test_many_messages_are_counted(tmp_path: Path) -> None:
    best = reproduction(tmp_path, messages=MESSAGES * 100)

    assert f"and {500 - MESSAGES_SHOWN} more" in plain(to_lines(result(best), files={}))


def test_the_document_has_everything_and_is_json(tmp_path: Path) -> None:
    document = to_document(sample(tmp_path))

    assert json.loads(json.dumps(document)) == document
    assert document["reproduced"]
    assert document["case"] == {
        "sources": ["diskqueue"],
        "command": ["python", "workload.py"],
        "oracle": "log:kept 3",
    }
    (told,) = document["best"]["faults"]
    assert told["what"] == "`file.write` raises `OSError(28, 'No space left on device')`"
    assert told["failure_log_line"] == 3
    assert document["best"]["messages"][0]["chain"][0] == {
        "kind": "external exception",
        "module": "diskqueue",
        "function": "DiskQueue._write_index",
        "line": 11,
        "text": "file.write",
    }
    assert document["first_found"] == document["best"]


def test_the_document_of_a_search_that_found_nothing(tmp_path: Path) -> None:
    document = to_document(result(None))

    assert (document["reproduced"], document["best"], document["first_found"]) == (False, None, None)
    assert document["summary"] == "12 rounds tried 11 faults at 5 sites"


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

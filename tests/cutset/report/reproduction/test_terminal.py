import shlex
from dataclasses import replace
from pathlib import Path

from rich.text import Text
from tests.samples.reproduction import MESSAGES, faithful, fault, reproduction, result, sample

from cutset.report.reproduction.terminal import MESSAGES_SHOWN, to_lines

EXPECTED = """\
≈ The symptom is reproduced  2 of 2 repeats show it; 12 rounds, 34 s
  its log differs from the failure log in 2 messages, and values of 1, so this is a cause, perhaps not the cause:
  – lacks line 9      compacted
  + adds line 9       not compacted
  ≠ differs at line 3  cannot write the index: [Errno 28] No space left on device

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
       2 of 2 repeats show it
       4 of 5 messages that set the failure log apart from good runs show again
       its log differs from the failure log in 2 messages, and values of 1
       found in round 7 of 12

How the log follows from it  → ran then, ⇢ inferred
  ✓ line 3      cannot write the index: [Errno 28]
      library call fails at diskqueue:11 → 2 steps → this runs at diskqueue:6
  ✓ line 7      queue is read-only, dropping item
      library call fails at diskqueue:11 ⇢ 3 steps ⇢ condition decides at diskqueue:3; 2 of 5 steps inferred
  ✓ line 8      queue is read-only, dropping item
      library call fails at diskqueue:11 ⇢ 3 steps ⇢ condition decides at diskqueue:3; 2 of 5 steps inferred
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


def test_many_messages_are_counted(tmp_path: Path) -> None:
    best = reproduction(tmp_path, messages=MESSAGES * 100)

    assert f"and {500 - MESSAGES_SHOWN} more" in plain(to_lines(result(best), files={}))


def test_what_explains_as_much_stands_under_what_and_the_rest_at_the_end(tmp_path: Path) -> None:
    best, equal = (faithful(tmp_path, fault(occurrence=number)) for number in (3, 4))
    worse = [
        reproduction(tmp_path, fault(occurrence=number), group=group)
        for number, group in ((5, "a full disk"), (6, "a slow disk"), (7, "a full disk"))
    ]
    lines = plain(to_lines(result(best, equal, *worse), files={}))

    what = (
        "`file.write` raises `OSError(28, 'No space left on device')` in `DiskQueue._write_index` (diskqueue:11), the"
    )
    assert lines.startswith("✓ The log is reproduced  2 of 2 repeats show it; 12 rounds, 34 s\n  nothing")
    together = f"         {what} 3rd time it gets there\n         {what} 4th time it gets there\nWhere"
    assert f"       Either of these two explains the log as well:\n{together}" in lines
    unlike = (
        "      its log differs from the failure log in 2 messages, and values of 1; 2 of 2 repeats show it; round 7\n"
    )
    full = "".join(f"    {what} {number}th time it gets there\n{unlike}" for number in (5, 7))
    assert f"Other causes with the same symptom, whose logs are less alike\n  a full disk\n{full}  a slow disk" in lines


def test_what_was_simplified_is_told(tmp_path: Path) -> None:
    first = reproduction(tmp_path, fault(effect="crash()"), round=2)
    lines = plain(to_lines(result(reproduction(tmp_path), first=first), files={}))

    site = "diskqueue::DiskQueue._write_index::file.write"
    assert f"Simplified\n  found first, in round 2: crash() at {site}, occurrence 3" in lines


def test_what_no_repeat_shows_is_not_reproduced(tmp_path: Path) -> None:
    lines = plain(to_lines(result(faithful(tmp_path, repeated=0)), files={}))

    assert lines.startswith("? Not reproduced  0 of 2 repeats show it; 12 rounds")
    assert "a coincidence" in lines
    assert "Seen once  `file.write` raises" in lines
    assert "What   " not in lines

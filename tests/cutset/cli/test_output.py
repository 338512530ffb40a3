import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples.campaign import EVENTS, RUN

from cutset.cli import output
from cutset.cli.output import notes, print_document, print_lines
from cutset.store.codec import event_from_json, event_to_json
from cutset.store.ledger import open_ledger


def test_results_go_to_standard_output_and_notes_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["[bold]a[/] `b` 12 :key:", "x" * 300])
    print_document({"a": ["ü", 1]})
    notes().print("[yellow]warning:[/] c")

    out, err = capsys.readouterr()
    assert out == "a `b` 12 :key:\n" + "x" * 300 + '\n{\n  "a": [\n    "\\u00fc",\n    1\n  ]\n}\n'
    assert err == "warning: c\n"


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\u2066[red]x\x00"


def hostile_store(folder: Path) -> Path:
    """A ledger that somebody else wrote, with what drives terminals wherever a text can be."""
    texts = json.loads(json.dumps([event_to_json(event)[1] for event in (RUN, *EVENTS)]))
    kinds = [event_to_json(event)[0] for event in (RUN, *EVENTS)]
    name = json.dumps(f"GET /{HOSTILE}")
    with open_ledger(folder) as ledger:
        for kind, text in zip(kinds, texts, strict=True):
            for honest in ('"GET /"', '"POST /pay"'):
                text = text.replace(honest, name if honest == '"GET /"' else json.dumps(f"POST {HOSTILE}"))  # noqa: PLW2901
            for honest in ("500 with `no cart`", "the budget of experiments is spent", "127.0.0.1:5001", "never fired"):
                text = text.replace(honest, honest + json.dumps(HOSTILE)[1:-1])  # noqa: PLW2901
            ledger.append(f"run{HOSTILE}", event_from_json(kind, text))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["report", "--list"],
        ["report", "--json"],
        ["report", "--explain", "cart/GetCart"],
        ["report", "--junit", "out", "--sarif", "out.sarif"],
        ["check"],
        ["harden"],
        ["report", f"no such {HOSTILE}".replace("\x00", "")],
    ],
)
def test_nothing_that_drives_a_terminal_is_printed_of_a_foreign_ledger(tmp_path: Path, arguments: list[str]) -> None:
    store = hostile_store(tmp_path / "store")
    arguments = [str(tmp_path / each) if each.startswith("out") else each for each in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "cutset", *arguments, "--store", str(store)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"FORCE_COLOR": "", "COLUMNS": "200"},
    )
    written = [path.read_bytes() for path in tmp_path.glob("out*")]
    for text in (done.stdout, done.stderr, *written):
        shown = text.decode()
        assert [letter for letter in shown if not letter.isprintable() and letter != "\n"] == []
    assert done.stdout or done.stderr
    assert b"mistake in Cutset" not in done.stderr, done.stderr


def test_no_command_prints_but_by_the_console_of_this_file() -> None:
    folder = Path(output.__file__).parent
    others = [path.name for path in folder.glob("*.py") if "import Console\n" in path.read_text()]
    for name in others:
        assert "from cutset.cli.output import Console\n" in (folder / name).read_text(), name

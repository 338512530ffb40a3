"""Commands and options that README, docs, examples and hints name are there."""

import re
from functools import cache
from pathlib import Path

import pytest
from typer._click import Command, Context
from typer.main import get_command

from cutset.cli.main import COMMANDS, app

ROOT = Path(__file__).parent.parent.parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.y*ml")]
WRITTEN = re.compile(
    r"(?:`|\$ |^ *)cutset ([a-z]+(?: (?:run|up|show|start))?)\b([^`\n]*(?:\n +--[^`\n]*)*)", re.MULTILINE
)


@cache
def options_of(name: str) -> frozenset[str]:
    """Of a command and, if it is a group, of what is in it."""
    group = get_command(app)
    found: Command = group.resolve_command(Context(group), [name])[1]
    commands = [found, *getattr(found, "commands", {}).values()]
    return frozenset(
        option
        for each in commands
        for parameter in each.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    ) | {
        "--help",
        "-h",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_commands_and_options_that_exist(page: Path) -> None:
    for words, rest in WRITTEN.findall(page.read_text()):
        name = words.split()[0]
        assert name in COMMANDS, words
        ours = re.split(r" -- | \| |  #|; ", re.sub(r'"[^"]*"', '""', rest))[0]  # what is quoted is of other programs
        for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", ours):
            assert option in options_of(name), f"cutset {words}{rest}"

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer._click import Command, Context
from typer.main import get_command

import cutset
from cutset.cli.main import COMMANDS, app


def commands() -> Iterator[tuple[str, Command]]:
    group = get_command(app)
    context = Context(group)
    for name in COMMANDS:
        command = group.resolve_command(context, [name])[1]
        yield name, command
        for inner, nested in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", nested


@pytest.mark.parametrize("option", ["--store", "--config", "--json", "--request"])
def test_an_option_means_the_same_in_all_commands_that_have_it(option: str) -> None:
    ways: dict[str, list[str]] = defaultdict(list)
    for name, command in commands():
        for parameter in command.params:
            if option in parameter.opts:
                ways[f"{parameter.opts} {parameter.default} {parameter.help}"].append(name)
    assert len(ways) == 1, ways


def texts() -> Iterator[tuple[Path, str]]:
    for path in sorted(Path(cutset.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.value


def options() -> dict[str, set[str]]:
    """Of each command, with those of its parts."""
    known: dict[str, set[str]] = defaultdict(lambda: {"--help"})
    for name, command in commands():
        for parameter in command.params:
            known[name.partition(" ")[0]].update(parameter.opts, parameter.secondary_opts)
    return known


def test_every_command_and_option_that_a_text_names_exists() -> None:
    known = options()
    anywhere = {"--version"}.union(*known.values())
    wrong = []
    for path, text in texts():
        for command, following in re.findall(r"`cutset ([a-z][\w-]*)([^`]*)`", text):
            named = set(re.findall(r"(?<!\S)--[a-z][\w-]*", following.partition(" -- ")[0]))
            if command not in COMMANDS or not named <= known[command]:
                wrong.append(f"{path.name}: cutset {command}{following}")
        named = set(re.findall(r"`(--[a-z][\w-]*)(?=[ `])", text))
        wrong += [f"{path.name}: {option}" for option in named - anywhere]
    assert wrong == []

from collections import defaultdict
from collections.abc import Iterator

import pytest
from typer._click import Command, Context
from typer.main import get_command

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

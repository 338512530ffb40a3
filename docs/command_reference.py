"""Writes `docs/reference/commands.md` from the commands themselves: `python docs/command_reference.py`.

A test holds the page against what this makes, so that no option is added, renamed or explained anew without it.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from typer._click import Context
from typer.main import get_command

from cutset.cli.main import GROUPS, app

PAGE = Path(__file__).parent / "reference" / "commands.md"
BEGINNING = """\
# Commands

Written by `python docs/command_reference.py` from the commands themselves; `cutset COMMAND --help` says the same.
What they exit with: [exit codes](exit-codes.md). What `--json` prints: [JSON documents](json.md).
"""


def main() -> None:
    PAGE.write_text(command_reference(), encoding="utf-8")


def command_reference() -> str:
    parts = [BEGINNING, _table(["group", "command", "what it does"], _index())]
    for group, commands in GROUPS.items():
        parts.append(f"## {group}\n")
        for name in commands:
            command = _command(name)
            parts += _section(command, f"cutset {name}", heading="###")
            for part in getattr(command, "commands", {}).values():
                parts += _section(part, f"cutset {name} {part.name}", heading="####")
    return "\n".join(parts)


def _command(name: str) -> Any:
    """Any: what click is to typer, which vendors it, is not typed."""
    main_command: Any = get_command(app)
    return main_command.resolve_command(Context(main_command), [name])[1]


def _index() -> list[Sequence[str]]:
    return [
        (group if name == next(iter(commands)) else "", f"[`cutset {name}`](#cutset-{name})", summary)
        for group, commands in GROUPS.items()
        for name, (_, summary) in commands.items()
    ]


def _section(command: Any, name: str, *, heading: str) -> list[str]:
    context = Context(command, info_name=name)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    usage = [name, *(["[OPTIONS]"] if options else []), *map(_usage, arguments)]
    parts = [f"{heading} `{name}`\n", f"```text\n{' '.join(usage)}\n```\n", f"{(command.help or '').strip()}\n"]
    if rows := [(f"`{_word(each)}`", _escaped(each.help)) for each in arguments if each.help]:
        parts.append(_table(["argument", "meaning"], rows))
    if options:
        parts.append(_table(["option", "default", "meaning"], [_row(each, context) for each in options]))
    return parts


def _word(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()).strip("[]{}")


def _usage(argument: Any) -> str:
    word = _word(argument).rstrip("….") + ("…" if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _row(option: Any, context: Context) -> Sequence[str]:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if not option.is_flag:
        kind = option.display_type(context).strip("<>").removeprefix("list[").removesuffix("]").removesuffix(" range")
        names += f" {_escaped(option.metavar or kind)}"
    bounds = [
        f"{word} {bound:g}" for word, bound in (("at least", option.min), ("at most", option.max)) if bound is not None
    ]
    text = _escaped(option.help or "") + (f" ({', '.join(bounds)})" if bounds else "")
    return names, "required" if option.required else _default(option.get_default(context)), text


def _default(value: Any) -> str:
    shown = value.value if isinstance(value, Enum) else value
    return {None: "", "": "", False: "", True: "yes"}.get(shown, f"`{shown}`")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    main()

"""Values in what is to be sent: `{session}` and what earlier answers gave, and `${NAME}` of the environment.

Braces around any other name stay as they are: bodies are full of them.
"""

import os
import re
from collections.abc import Mapping

from cutset.errors import UsageError

SESSION = "session"  # in `{session}`: a value that no other experiment has
_PLACE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}|\{([A-Za-z_]\w*)\}", re.ASCII)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Raises UsageError if an environment variable is not set."""
    return _PLACE.sub(lambda found: _variable(found[1]) if found[1] else values.get(found[2], found[0]), text)


def fill_names(text: str, values: Mapping[str, str]) -> str:
    """Leaves variables of the environment to whoever runs the text."""
    return _PLACE.sub(lambda found: found[0] if found[1] else values.get(found[2], found[0]), text)


def fill_json(value: object, values: Mapping[str, str]) -> object:
    match value:
        case str():
            return fill(value, values)
        case Mapping():
            return {fill(str(key), values): fill_json(child, values) for key, child in value.items()}
        case list() | tuple():
            return [fill_json(child, values) for child in value]
        case _:
            return value


def variables_in(text: str) -> list[str]:
    """What the environment gives for those that the text names, as far as they are set."""
    return [value for name, _ in _PLACE.findall(text) if name and (value := os.environ.get(name))]


def _variable(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise UsageError(
            f"A request needs the environment variable `{name}`, which is not set",
            hint=f"Set it where you start Cutset: `export {name}=…`",
        ) from None

"""Which calls write to a log, where their message is, what their logger is called; which functions are loggers."""

import re
from collections import defaultdict
from collections.abc import Mapping

from cutset.reproduce.python.syntax import RESULT, CodeEvent, EventKind, Module, PythonProgram

LEVELS = {
    "debug": "DEBUG",
    "info": "INFO",
    "warning": "WARNING",
    "warn": "WARNING",
    "error": "ERROR",
    "exception": "ERROR",
    "critical": "CRITICAL",
    "fatal": "CRITICAL",
    "log": "",  # the level is its first argument
    "trace": "",
    "success": "",
    "notice": "",
    "msg": "",
}
OWN_KEYWORDS = {"exc_info", "extra", "stack_info", "stacklevel", "level", "category", "source", "**"}
_MESSAGE_KEYWORDS = ("msg", "message", "event")
_LOGGER = re.compile(r"(?i:(?:^|_)log(?:ging)?s?$|logger$)|[a-z]Log$")
_MAKERS = re.compile(r"\b(?:getLogger|get_logger|bind|new|opt|getChild|LoggerAdapter|get_task_logger|unbind)\(")
_OUTPUT = re.compile(r"(?:^|_)(?:log\w*|std(?:err|out)|out(?:put)?|file|fh|fp|f)$")
_SAID = {"msg", "message", "text", "line", "event", "fmt"}  # parameters that are what a function has to say
_LOGGING_CALLS = 15  # a logger of the program's own does no more: it looks at the time, formats, writes, flushes
_FACTORIES = {"getLogger", "get_logger", "get_task_logger"}


def is_logging(event: CodeEvent, *, prints: bool = False) -> bool:
    """`logger.info`, `self.log.debug`, `getLogger(…).info`, `warnings.warn`, what is written to stderr."""
    chain = event.chain
    if chain[-2:] == ("stderr", "write"):
        return True
    if prints and (chain == ("print",) or chain[-2:] == ("stdout", "write")):
        return True
    if chain[-1] not in LEVELS or len(chain) < 2:
        return False
    if chain[-2:] == ("warnings", "warn"):
        return True
    if chain[0] == RESULT or not chain[0]:
        return _MAKERS.search(event.expression.rpartition(".")[0]) is not None
    return _LOGGER.search(chain[-2]) is not None


def message_slot(event: CodeEvent) -> int | str:
    keyword = next((name for name in _MESSAGE_KEYWORDS if name in event.keywords), None)
    if keyword and event.positional == 0:
        return keyword
    return 1 if event.chain[-1] == "log" and event.positional != 1 else 0


def logger_names(program: PythonProgram) -> dict[tuple[str, str], str]:
    """What loggers are called that a module keeps in a variable or attribute, where it says so plainly; else ""."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for write in program.writes:
        call = write.values[0] if write.values else -1
        if call >= 0 and program.events[call].chain and program.events[call].chain[-1] in _FACTORIES:
            module = program.functions[program.places[write.place].function].module
            found[module, write.name].add("" if program.callees[call] else _given_name(program, call, module))
    return {variable: names.pop() if len(names) == 1 else "" for variable, names in found.items()}


def _given_name(program: PythonProgram, call: int, module: str) -> str:
    event = program.events[call]
    if any(slot == 0 and chain == ("__name__",) for slot, chain in event.passed):
        return module
    return next((parts[0] or "" for slot, parts in event.texts if slot == 0 and len(parts) == 1), "")


def logger_name(names: Mapping[tuple[str, str], str], module: Module, event: CodeEvent) -> str | None:
    """What the logger of a call is called, "" if it is not known; None if its variable was not seen to get a logger."""
    variable = event.chain[-2] if len(event.chain) > 1 else ""
    if (module.name, variable) in names or len(event.chain) != 2:
        return names.get((module.name, variable))
    source, _, original = module.imports.get(variable, ("",))[0].rpartition(".")
    return names.get((source, original))


def own_loggers(program: PythonProgram) -> dict[tuple[int, str], str]:
    """Functions that do no more than write what they are given to a log: which parameter it is, and at which level."""
    calls: dict[int, list[int]] = defaultdict(list)
    for index, event in enumerate(program.events):
        if event.kind is EventKind.CALL:
            calls[event.function].append(index)
    found = {}
    for number, made in calls.items():
        row = program.functions[number]
        said = next((name for name in row.parameters if name in _SAID), None)
        if said is None or len(made) > _LOGGING_CALLS or any(program.callees[index] for index in made):
            continue
        if any(_writes(program.events[index]) for index in made):
            found[number, said] = LEVELS.get(row.name.rpartition(".")[2], "")
    return found


def _writes(event: CodeEvent) -> bool:
    chain = event.chain
    if chain in (("print",), ("os", "write")):
        return True
    return len(chain) > 1 and chain[-1] == "write" and _OUTPUT.search(chain[-2]) is not None

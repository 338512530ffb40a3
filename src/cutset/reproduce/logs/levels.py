"""Names of log levels, as programs, formats and shippers of logs write them."""

_NAMES = {
    "TRACE": ("TRAC", "TRC", "FINEST", "FINER", "VERBOSE", "VERB", "VRB"),
    "DEBUG": ("DEBU", "DEBG", "DBG", "FINE", "CONFIG"),
    "INFO": ("INF", "INFORMATION", "INFORMATIONAL"),
    "NOTICE": ("NOTI",),
    "SUCCESS": (),
    "WARNING": ("WARN", "WRN", "WARNI"),
    "ERROR": ("ERR", "ERRO", "SEVERE"),
    "CRITICAL": ("CRIT", "FATAL", "FTL", "EMERG", "EMERGENCY", "ALERT", "PANIC"),
}
_LETTERS = {"T": "TRACE", "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "CRITICAL"}
_NUMBERS = {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}
_USUAL = {name: usual for usual, others in _NAMES.items() for name in (usual, *others)}

LEVELS = tuple(_USUAL)
HARMLESS = frozenset({"", "TRACE", "DEBUG", "INFO", "NOTICE", "SUCCESS"})


def usual_level(text: str) -> str:
    """One name for each level; a level of the program's own keeps its name, in capitals."""
    level = text.upper()
    if level.isdecimal() and level.isascii():
        return _NUMBERS.get(int(level[:4]), level)
    return _USUAL.get(level) or _LETTERS.get(level) or level


def contradict(one: str, other: str) -> bool:
    """Whether two levels cannot be the same. One that has a name of the program's own can be any."""
    one, other = usual_level(one), usual_level(other)
    return one != other and one in _NAMES and other in _NAMES

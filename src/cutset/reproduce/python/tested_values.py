"""Which calls the conditions of a program test, what wrong value each would notice, and which `raise` follows.

`data = sock.recv(4)`, `if not data: raise ConnectionError("closed")`: what happened is that nothing came, and the
exception is what the program made of it. So where the value of a call from outside decides about a `raise`, the wrong
value is the fault, and the `raise` its consequence (ANDURIL injects at both, and has no wrong values).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from cutset.reproduce.python.syntax import Chain, EventKind, GuardKind, PythonProgram

_STEPS = 3  # from name to name: `n = len(data)`

# What comes back when something is wrong, by the name of what is called.
_BY_CALLEE = [
    (re.compile(pattern), value, why)
    for pattern, value, why in (
        (r"(recv|readinto)_into|readinto", "0", "it reads nothing: the other side has closed"),
        (r"connect_ex", "111", "nobody listens at the other side"),
        (r"waitpid", "(0, 0)", "the process has not ended yet"),
        (r"recv\w*|read\w*", "b''", "it reads less than it should: the other side has closed"),
        (r"fetchall|fetchmany|listdir|select|poll|scan\w*|l?range|mget|find_all", "[]", "it finds nothing"),
        (
            r"get\w*|fetch\w*|receive\w*|load\w*|dequeue\w*|[bl]?r?pop\w*|find\w*|first|one_or_none",
            "None",
            "it finds nothing",
        ),
        (r"write|send|sendto", "0", "it writes less than it should"),
    )
]
# Only where it is tested: `exists`, `is_file`, `acquire`.
_ANSWERS = re.compile(
    r"exists|lexists|is_?(file|dir|link|alive|connected|open|ready|mount)|acquire|has_\w+|try_\w+|wait|ping"
)
_BY_TEST = (
    (re.compile(r"\bis (?:not )?None\b"), "None", "it finds nothing"),
    (re.compile(r"[=<] -1\b|< 0\b"), "-1", "it says that it has failed"),
    (re.compile(r"[!=]= ''"), "''", "it reads nothing"),
)


@dataclass(frozen=True, slots=True)
class WrongValue:
    text: str
    why: str
    tested: bool  # the code has a condition for it


@dataclass(frozen=True, slots=True)
class TestedValues:
    conditions: Mapping[int, tuple[int, ...]]  # by call: the conditions that its value decides
    reasons: Mapping[int, tuple[int, ...]]  # by `raise`: the calls from outside whose values decide about it


def tested_values(program: PythonProgram) -> TestedValues:
    written: dict[tuple[int, Chain], list[int]] = defaultdict(list)
    for index, write in enumerate(program.writes):
        written[program.places[write.place].function, write.target].append(index)
    conditions: dict[int, list[int]] = defaultdict(list)
    deciding: dict[int, set[int]] = {}
    for index, guard in enumerate(program.guards):
        if guard.kind == GuardKind.CONDITION:
            deciding[index] = {event for event in _deciding(program, written, index) if program.leaves[event]}
            for event in deciding[index]:
                conditions[event].append(index)
    reasons = {
        index: tuple(sorted(set().union(*(deciding.get(guard, ()) for guard in _above(program, event.place)))))
        for index, event in enumerate(program.events)
        if event.kind == EventKind.RAISE
    }
    return TestedValues({event: tuple(found) for event, found in conditions.items()}, reasons)


def _deciding(program: PythonProgram, written: Mapping[tuple[int, Chain], list[int]], index: int) -> Iterator[int]:
    """Events whose values a condition depends on, in it or by names that its function wrote before."""
    guard = program.guards[index]
    function = program.places[guard.place].function
    yield from guard.values
    names, seen = set(guard.reads), set(guard.reads)
    for _ in range(_STEPS):
        found = [
            write
            for name in names
            for one in written.get((function, name), ())
            if (write := program.writes[one]).line <= guard.line
        ]
        for write in found:
            yield from write.values
        names = {name for write in found for name in write.reads} - seen
        seen |= names


def _above(program: PythonProgram, place: int) -> list[int]:
    """The condition that leads to a place: the one around it, else the last that had to be passed."""
    row = program.places[place]
    return [row.guard] if row.guard >= 0 and not row.passed else list(row.passed[-1:])


def wrong_values(program: PythonProgram, index: int, conditions: Collection[int]) -> list[WrongValue]:
    """Of a call that reaches out, those that the code tests for first."""
    event = program.events[index]
    texts = [program.guards[guard].text for guard in conditions if _is_direct(program, index, guard)]
    name = event.chain[-1] if event.chain else ""
    found = {
        value: WrongValue(f"return({value})", why, tested=bool(texts))
        for value, why in [(value, why) for pattern, value, why in _BY_CALLEE if pattern.fullmatch(name)][:1]
    }
    if texts and _ANSWERS.fullmatch(name):
        found["False"] = WrongValue("return(False)", "the answer is no", tested=True)
    for pattern, value, why in _BY_TEST:
        if any(pattern.search(text) for text in texts):
            found[value] = WrongValue(f"return({value})", why, tested=True)
    return sorted(found.values(), key=lambda value: not value.tested)


def _is_direct(program: PythonProgram, index: int, guard: int) -> bool:
    """Whether a condition tests the value itself, not something that was made of it or of a part of it."""
    row, assigned = program.guards[guard], program.events[index].assigned
    return index in row.values or (len(assigned) == 1 and any(chain[-1] == assigned[0] for chain in row.reads))

"""Which calls the conditions of a program test, what wrong value each would notice, and which `raise` follows.

`data = sock.recv(4)`, `if not data: raise ConnectionError("closed")`: what happened is that nothing came, and the
exception is what the program made of it. So where a wrong value of a call from outside can bring about a `raise`, the
value is the fault, and the `raise` its consequence. Where something outside decides, but no plain value does it (`if
answer.status != 200`), the `raise` stands for it. ANDURIL injects at both, and has no wrong values.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from cutset.reproduce.python.exception_table import called
from cutset.reproduce.python.libraries import imported_modules
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
_ANSWERS = re.compile(r"exists|lexists|is_?(file|dir|link|alive|connected|open|ready|mount)|acquire|wait|ping")
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
class DecidingValues:
    conditions: Mapping[int, tuple[int, ...]]  # by call from outside: those that its value decides
    reasons: Mapping[int, tuple[int, ...]]  # by `raise`: the calls from outside whose values decide about it
    brought_about: Mapping[int, tuple[int, ...]]  # likewise, by a wrong value that is known


def deciding_values(program: PythonProgram) -> DecidingValues:
    written: dict[tuple[int, Chain], list[int]] = defaultdict(list)
    for index, write in enumerate(program.writes):
        written[program.places[write.place].function, write.target].append(index)
    conditions: dict[int, list[int]] = defaultdict(list)
    deciding: dict[int, set[int]] = {}
    imports = imported_modules(program)

    @cache
    def from_outside(index: int) -> bool:
        module = program.functions[program.events[index].function].module
        return _is_from_outside(program, imports[module], index)

    for index, guard in enumerate(program.guards):
        if guard.kind == GuardKind.CONDITION:
            deciding[index] = {event for event in _deciding(program, written, index) if from_outside(event)}
            for event in deciding[index]:
                conditions[event].append(index)
    reasons = {
        index: tuple(sorted(set().union(*(deciding.get(guard, ()) for guard in _above(program, event.place)))))
        for index, event in enumerate(program.events)
        if event.kind == EventKind.RAISE
    }
    by_value = {
        index: tuple(event for event in events if wrong_values(program, event, conditions[event]))
        for index, events in reasons.items()
    }
    return DecidingValues({event: tuple(found) for event, found in conditions.items()}, reasons, by_value)


def _is_from_outside(program: PythonProgram, imports: Sequence[str], index: int) -> bool:
    """Whether what a call returns depends on more than the program: not a dictionary's `get`."""
    event, resolved = program.events[index], program.resolved[index]
    if event.kind != EventKind.CALL or not program.leaves[index]:
        return False
    if any(callee not in program.guesses[index] for callee in program.callees[index]):
        return False
    if _ANSWERS.fullmatch(event.chain[-1]):
        return True
    told = called(event.expression, resolved, imports, awaited=event.awaited)
    outside = told.client or (bool(resolved) and not told.standard) or any(weight for _, weight in told.rules)
    return told.reaches_out and not told.vague and outside


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
            for length in range(1, len(name) + 1)  # `answer.status` is of `answer`
            for one in written.get((function, name[:length]), ())
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

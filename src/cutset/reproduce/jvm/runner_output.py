"""What test runners of the JVM print of their own: JUnit 4, JUnit's console, Maven's Surefire, Gradle.

What the program printed, and the stack traces of tests that failed, stay; where a runner indents them, they are moved
back to the left.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from cutset.reproduce.logs.dialect import NumberedLine

_JUNIT_4 = re.compile(
    r"JUnit version \d.*|Time: [\d.,]+|OK \(\d+ tests?\)|There (?:was|were) \d+ failures?:|FAILURES!!!|[.EI]{1,500}"
    r"|\d+\) [\w$]+(?:\[.*\])?\([\w.$]+\)|Tests run: \d+,  ?Failures: \d+(?:,.*)?"
)
_DOTS = re.compile(r"\A[.EI]{1,200}(?=\[?\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|\[?(?:INFO|WARN|ERROR|DEBUG)\b)")
_JUNIT_CONSOLE = re.compile(
    r"Thanks for using JUnit!.*|Test run finished after \d+ ms|\[ +\d+ (?:containers|tests) \w+ +\]|[╷├│└'+|].*\[OK\]"
    r"|(?:[╷├│└]|[.+|'] ?[-+] ).*|Failures \(\d+\):|  JUnit (?:Jupiter|Vintage|Platform Suite)(?::.*)?"
    r"|    (?:Method|Class)Source \[.*\]"
)
_THROWN = re.compile(r"\A    => (?=\S)")
_MAVEN = re.compile(
    r"\[(?:INFO|WARNING|ERROR|DEBUG)\](?: .*)?|Running [\w.$]+|Tests run: \d+, Failures: \d+, .*| ?T E S T S|-{20,}"
    r"|Results ?:|(?:Failed tests|Tests in error): .*|.*<<< (?:FAILURE|ERROR)!"
)
_IS_MAVEN = re.compile(r"\[INFO\] (?:Scanning for projects\.\.\.|-{20,}.*|Running [\w.$]+)| ?T E S T S")
_GRADLE = re.compile(
    r"> Task :.*|BUILD (?:SUCCESSFUL|FAILED) in .*|\d+ tests? completed(?:, .*)?|\d+ actionable tasks?: .*"
    r"|\S.* > .* (?:STARTED|PASSED|FAILED|SKIPPED|STANDARD_OUT|STANDARD_ERROR)|FAILURE: Build failed .*"
)
_IS_GRADLE = re.compile(r"> Task :.*|\S.* > .* (?:STANDARD_OUT|STANDARD_ERROR|FAILED|PASSED)")


def without_decoration(lines: Sequence[str]) -> Iterator[NumberedLine]:
    """Lines that are not of a runner are left alone. All keep their numbers."""
    numbered: Iterable[NumberedLine] = enumerate(lines, start=1)
    if any(line.startswith("JUnit version ") for line in lines):
        numbered = ((number, _DOTS.sub("", line)) for number, line in _left(numbered, _JUNIT_4))
    if any(line.startswith(("Thanks for using JUnit!", "Test run finished after")) for line in lines):
        numbered = ((number, _THROWN.sub("", line)) for number, line in _left(numbered, _JUNIT_CONSOLE))
    if any(_IS_MAVEN.fullmatch(line) for line in lines):
        numbered = _left(numbered, _MAVEN)
    if any(_IS_GRADLE.fullmatch(line) for line in lines):
        numbered = _outdented(numbered)
    return iter(numbered)


def _left(lines: Iterable[NumberedLine], decoration: re.Pattern[str]) -> Iterator[NumberedLine]:
    return ((number, line) for number, line in lines if not decoration.fullmatch(line))


def _outdented(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """Gradle puts what a test prints, or failed with, below the name of the test."""
    below = False
    for number, line in lines:
        if _GRADLE.fullmatch(line):
            below = " > " in line
        elif line.startswith("    ") and below:
            yield number, line[4:]
        else:
            below = below and not line.strip()
            yield number, line

"""Which exception is which other, by their names, and how they are written down so that the agent makes them."""

import json
from collections.abc import Iterable

from cutset.reproduce.jvm.tables import ABSTRACT, JvmProgram
from cutset.reproduce.jvm.usual_failures import ABOVE

_UNCHECKED = ("java.lang.RuntimeException", "java.lang.Error")


class ExceptionTypes:
    def __init__(self, program: JvmProgram) -> None:
        self._parents = {
            program.type_name(row.name): program.type_name(row.parent) for row in program.classes if row.parent >= 0
        }
        self._abstract = {program.type_name(row.name) for row in program.classes if row.access & ABSTRACT}
        self._constructors = program.constructors

    def is_a(self, kind: str, other: str) -> bool:
        while kind and kind != other:
            kind = self._parents.get(kind) or ABOVE.get(kind, "")
        return bool(kind)

    def is_any(self, kind: str, others: Iterable[str]) -> bool:
        return any(self.is_a(kind, other) for other in others)

    def is_unchecked(self, kind: str) -> bool:
        return self.is_any(kind, _UNCHECKED)

    def is_abstract(self, kind: str) -> bool:
        return kind in self._abstract

    def can_be_made(self, kind: str) -> bool:
        return not self.is_abstract(kind)

    def make(self, kind: str, message: str) -> str:
        """Without its message if no constructor takes one."""
        known = self._constructors.get(kind)
        takes_message = known is None or any("String" in each or "Object" in each for each in known)
        return f"{kind}({json.dumps(message, ensure_ascii=False) if message and takes_message else ''})"

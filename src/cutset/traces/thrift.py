"""Thrift's binary and compact encodings, read without knowing the types: a struct is a dictionary by field number.

Clients of Jaeger send nothing else. What is read is anybody's: sizes are held against what is left of the payload, and
nesting is bounded, so that work and memory stay in proportion to what was received.
"""

import struct
from abc import ABC, abstractmethod
from typing import TypeAlias

from cutset.errors import InputError

ThriftValue: TypeAlias = "bool | int | float | bytes | list[ThriftValue] | dict[int, ThriftValue]"
ThriftStruct: TypeAlias = "dict[int, ThriftValue]"

MAX_DEPTH = 16  # Jaeger's batches have 5
MAX_VARINT_BYTES = 10  # of 64 bits

# The types, as the binary encoding numbers them.
_STOP, _BOOL, _BYTE, _DOUBLE, _I16, _I32, _I64, _TEXT, _STRUCT, _MAP, _SET, _LIST = (
    0,
    2,
    3,
    4,
    6,
    8,
    10,
    11,
    12,
    13,
    14,
    15,
)
_COMPACT_TYPES = (_STOP, _BOOL, _BOOL, _BYTE, _I16, _I32, _I64, _DOUBLE, _TEXT, _LIST, _SET, _MAP, _STRUCT)
_COMPACT_TRUE, _COMPACT_MESSAGE = 1, 0x82
_INTEGERS = {_BYTE: 1, _I16: 2, _I32: 4, _I64: 8}  # bytes


def read_struct(payload: bytes) -> ThriftStruct:
    """A bare struct in the binary encoding, as it comes over HTTP."""
    reader = _Binary(payload)
    found = reader.struct(0)
    reader.end()
    return found


def read_message(payload: bytes) -> tuple[str, ThriftStruct]:
    """The name of a call and its arguments, in either encoding, as they come in a datagram."""
    reader: _Reader = (_Compact if payload[:1] == bytes([_COMPACT_MESSAGE]) else _Binary)(payload)
    name, found = reader.message(), reader.struct(0)
    reader.end()
    return name, found


class _Reader(ABC):
    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    @abstractmethod
    def message(self) -> str: ...

    @abstractmethod
    def field(self, before: int) -> tuple[int, int, bool | None]:
        """Type and number of the next field, after the one with this number, and its value if the header holds that."""

    @abstractmethod
    def elements(self) -> tuple[int, int]:
        """The type of a list's elements, and how many there are."""

    @abstractmethod
    def pairs(self) -> tuple[int, int, int]:
        """The types of a map's keys and values, and how many there are."""

    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def integer(self, kind: int) -> int: ...

    @abstractmethod
    def boolean(self) -> bool: ...

    @abstractmethod
    def double(self) -> float: ...

    def struct(self, depth: int) -> ThriftStruct:
        if depth > MAX_DEPTH:
            raise self.problem(f"structs are nested deeper than {MAX_DEPTH}")
        found: ThriftStruct = {}
        number = 0
        while True:
            kind, number, known = self.field(number)
            if kind == _STOP:
                return found
            found[number] = self._value(kind, depth) if known is None else known

    def _value(self, kind: int, depth: int) -> ThriftValue:
        if kind in _INTEGERS:
            return self.integer(kind)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            of, count = self.elements()
            return self._repeated((of,), count, depth)
        if kind == _MAP:  # Jaeger has none: they are read past
            key, value, count = self.pairs()
            return self._repeated((key, value), count, depth)
        return self._plain(kind)

    def _plain(self, kind: int) -> ThriftValue:
        if kind == _BOOL:
            return self.boolean()
        if kind == _DOUBLE:
            return self.double()
        if kind == _TEXT:
            return self.take(self.size())
        raise self.problem(f"there is no type {kind}")

    def _repeated(self, kinds: tuple[int, ...], count: int, depth: int) -> list[ThriftValue]:
        if depth > MAX_DEPTH:
            raise self.problem(f"values are nested deeper than {MAX_DEPTH}")
        if count < 0 or count > len(self._payload) - self._at:  # each takes a byte at least
            raise self.problem(f"{count} values are announced, which do not fit")
        return [self._value(kind, depth + 1) for _ in range(count) for kind in kinds]

    def take(self, count: int) -> bytes:
        taken = self._payload[self._at : self._at + count]
        if count < 0 or len(taken) < count:
            raise self.problem(f"{count} bytes are announced, and {len(self._payload) - self._at} are left")
        self._at += count
        return taken

    def text(self) -> str:
        return self.take(self.size()).decode(errors="replace")

    def end(self) -> None:
        if self._at < len(self._payload):
            raise self.problem(f"{len(self._payload) - self._at} bytes are left over")

    def problem(self, what: str) -> InputError:
        return InputError(f"The payload of {len(self._payload)} bytes is not Thrift: {what}, at byte {self._at}")


class _Binary(_Reader):
    def message(self) -> str:
        size = self.integer(_I32)
        if size < 0:  # the version is in its upper half
            name = self.text()
        else:  # as it was before there were versions
            name = self.take(size).decode(errors="replace")
            self.integer(_BYTE)
        self.integer(_I32)
        return name

    def field(self, before: int) -> tuple[int, int, bool | None]:
        kind = self.integer(_BYTE)
        return (_STOP, before, None) if kind == _STOP else (kind, self.integer(_I16), None)

    def elements(self) -> tuple[int, int]:
        return self.integer(_BYTE), self.size()

    def pairs(self) -> tuple[int, int, int]:
        return self.integer(_BYTE), self.integer(_BYTE), self.size()

    def size(self) -> int:
        return self.integer(_I32)

    def integer(self, kind: int) -> int:
        return int.from_bytes(self.take(_INTEGERS[kind]), "big", signed=True)

    def boolean(self) -> bool:
        return self.take(1) != b"\0"

    def double(self) -> float:
        value: float = struct.unpack(">d", self.take(8))[0]
        return value


class _Compact(_Reader):
    def message(self) -> str:
        self.take(2)  # that it is one, the version and the kind of message
        self.size()  # its number
        return self.text()

    def field(self, before: int) -> tuple[int, int, bool | None]:
        header = self.take(1)[0]
        kind = self._kind(header & 15)
        if kind == _STOP:
            return _STOP, before, None
        number = before + (header >> 4) if header >> 4 else self.integer(_I16)
        return kind, number, header & 15 == _COMPACT_TRUE if kind == _BOOL else None

    def elements(self) -> tuple[int, int]:
        header = self.take(1)[0]
        return self._kind(header & 15), self.size() if header >> 4 == 15 else header >> 4

    def pairs(self) -> tuple[int, int, int]:
        count = self.size()
        kinds = self.take(1)[0] if count else 0
        return self._kind(kinds >> 4), self._kind(kinds & 15), count

    def size(self) -> int:
        number = 0
        for place in range(MAX_VARINT_BYTES):
            byte = self.take(1)[0]
            number |= (byte & 127) << (7 * place)
            if byte < 128:
                return number
        raise self.problem("a number does not end")

    def integer(self, kind: int) -> int:
        if kind == _BYTE:
            return int.from_bytes(self.take(1), "big", signed=True)
        number = self.size()
        return (number >> 1) ^ -(number & 1)  # zigzag: the sign is the last bit

    def boolean(self) -> bool:
        return self.take(1)[0] == _COMPACT_TRUE

    def double(self) -> float:
        value: float = struct.unpack("<d", self.take(8))[0]
        return value

    def _kind(self, number: int) -> int:
        if number >= len(_COMPACT_TYPES):
            raise self.problem(f"there is no type {number}")
        return _COMPACT_TYPES[number]

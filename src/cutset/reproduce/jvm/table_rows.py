"""The rows of the extractor's tables, as it writes them: lists of numbers, decoded by their types.

Numbers of strings are called by what the string is: `owner` is the number of the name of a class.
"""

import msgspec


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`block` is the number of a basic block of the method, `instruction` of one of its instructions."""


class JvmClass(_Row, frozen=True):
    name: int
    parent: int  # -1: none
    interfaces: tuple[int, ...]
    path: int  # of its source file; -1: not known
    access: int
    kind: int  # 2: a source, 1: a driver, 0: known for what is above and below it alone


class SiteRow(_Row, frozen=True):
    method: int
    function: int
    expression: int
    ordinal: int
    line: int
    is_raise: int
    instructions: tuple[int, ...]  # several: copies of a `finally`
    callee_owner: int
    callee_name: int
    callee_descriptor: int
    declared: tuple[int, ...]  # exceptions


class BasicBlock(_Row, frozen=True):
    line: int
    conditions: tuple[int, ...]  # blocks whose last jump decides about it
    handlers: tuple[int, ...]  # blocks of handlers through which alone it is reached
    successors: tuple[int, ...]


class JvmCall(_Row, frozen=True):
    instruction: int
    block: int
    line: int
    opcode: int
    owner: int
    name: int
    descriptor: int
    site: int  # -1: none
    declared: tuple[int, ...]  # exceptions of a callee outside
    flags: int  # 1: the result is dropped


class HandedCode(_Row, frozen=True):
    """A lambda, or an object of an analysed class, that a call gets and may run."""

    call: int  # its instruction
    argument: int
    kind: int  # 0: `what` is the body of a lambda, "owner.name descriptor"; 1: a class
    what: int


class LoggingCall(_Row, frozen=True):
    instruction: int
    block: int
    line: int
    level: int
    template: int
    throwable: int
    logger: int  # -1: not known


class ThrowRow(_Row, frozen=True):
    instruction: int
    block: int
    line: int
    types: tuple[int, ...]
    handlers: tuple[int, ...]  # blocks of handlers whose exception is thrown on
    site: int


class TestedValues(_Row, frozen=True):
    """A condition: the jump that ends a block."""

    block: int
    line: int
    fields: tuple[int, ...]  # "owner.name"
    calls: tuple[int, ...]  # instructions
    chosen: tuple[int, ...]  # blocks where a constant was chosen
    parameters: tuple[int, ...]


class FieldWrite(_Row, frozen=True):
    instruction: int
    block: int
    line: int
    field: int
    calls: tuple[int, ...]  # instructions whose results it is made of
    fields: tuple[int, ...]


class MadeObject(_Row, frozen=True):
    instruction: int
    block: int
    type: int


class ReturnRow(_Row, frozen=True):
    block: int
    line: int
    calls: tuple[int, ...]
    fields: tuple[int, ...]
    constant: object = None


class TryRange(_Row, frozen=True):
    start: int
    end: int  # exclusive
    handler: int  # block
    type: int  # -1: anything, as of `finally`


class JvmMethod(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={
        "owner": "c",
        "name": "n",
        "descriptor": "d",
        "access": "f",
        "lines": "l",
        "declared": "x",
        "blocks": "b",
        "calls": "k",
        "handed": "h",
        "logs": "g",
        "throws": "t",
        "conditions": "q",
        "writes": "w",
        "made": "a",
        "returns": "r",
        "tries": "y",
    },
):
    owner: int  # row of its class
    name: int
    descriptor: int
    access: int
    lines: tuple[int, int] = (0, 0)
    declared: tuple[int, ...] = ()
    blocks: tuple[BasicBlock, ...] = ()
    calls: tuple[JvmCall, ...] = ()
    handed: tuple[HandedCode, ...] = ()
    logs: tuple[LoggingCall, ...] = ()
    throws: tuple[ThrowRow, ...] = ()
    conditions: tuple[TestedValues, ...] = ()
    writes: tuple[FieldWrite, ...] = ()
    made: tuple[MadeObject, ...] = ()
    returns: tuple[ReturnRow, ...] = ()
    tries: tuple[TryRange, ...] = ()  # in order of precedence

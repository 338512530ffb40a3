"""What JSON looks like from outside: where values start and end, told by quotes and brackets, without decoding them."""

import re

MAX_DEPTH = 1000  # what Python's and most other decoders refuse as well

MALFORMED = "malformed JSON"
TOO_DEEP = "JSON nested too deeply"

SPACE = re.compile(rb"[ \t\r\n]*+")
LEFTOVER = re.compile(rb"[ \t\r\n,\]}]++")  # of a damaged document
# Outside of strings and brackets: punctuation, numbers, and the letters of true, false, null, NaN and Infinity.
_PLAIN = rb"[ \t\r\n:,0-9+\-.eEtrufalsnNIiy]"
_UNCLOSED = rb'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+'
_STRING = _UNCLOSED + rb'"'


def _balanced(depth: int) -> bytes:
    inner = rb"|[\[{]" + _balanced(depth - 1) + rb"[\]}]" if depth else b""
    return _PLAIN + rb"*+(?:(?:" + _STRING + inner + rb")" + _PLAIN + rb"*+)*+"


CONTAINER = re.compile(rb"[\[{]" + _balanced(16) + rb"[\]}]")  # what is nested deeper, `walk` walks through
SCALAR = re.compile(_STRING + rb"|[0-9A-Za-z+\-.]++")
_TOKEN = re.compile(rb"(" + _STRING + rb")|(" + _PLAIN + rb"++)|([\[{])|([\]}])")
UNCLOSED_STRING = re.compile(_UNCLOSED + rb"\\?")
KEY = re.compile(rb"(" + _STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+")
# By which the elements of one file are alike; bounded, as it is tried wherever there is damage.
START = re.compile(rb'(?:[\[{][ \t\r\n]{0,99}+){1,4}+"[^"\\\x00-\x1f]{1,99}"')
# The same, more exactly: with the next key, if there is but a scalar before that.
START_OF_ALIKE = re.compile(
    rb"(?P<start>"
    + START.pattern
    + rb')(?:[ \t\r\n]*+:[ \t\r\n]*+(?:"[^"\\\x00-\x1f]{0,99}"|[0-9.]{1,40}+)[ \t\r\n]*+,'
    rb'[ \t\r\n]{0,99}+(?P<next>"[^"\\\x00-\x1f]{1,99}"))?'
)
_STRINGS, _PUNCTUATION, _OPEN, _CLOSE = range(1, 5)  # the groups of `_TOKEN`
# What may come before a string or a bracket, by the bracket that we are in (0: none).
_ALLOWED_BEFORE = {
    _STRINGS: {0: b"[", ord("["): b"[,", ord("{"): b"{,:"},
    _OPEN: {0: b"[", ord("["): b"[,", ord("{"): b":"},
}


class DamageError(Exception):
    def __init__(self, reason: str, until: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.until = until  # position up to which was read in vain


def walk(buffer: bytes, at: int, open_brackets: bytearray, before: bytes) -> tuple[int, bytes]:
    """Go on to where all brackets are closed, or to the last whole token; what came before that, for the next call."""
    while token := _TOKEN.match(buffer, at):
        at = token.end()
        inside = open_brackets[-1] if open_brackets else 0
        kind = token.lastindex or 0
        if (kind in _ALLOWED_BEFORE and before not in _ALLOWED_BEFORE[kind][inside]) or (
            kind == _PUNCTUATION and inside == ord("[") and b":" in token[0]
        ):
            raise DamageError(MALFORMED, at)
        if kind == _OPEN:
            open_brackets += token[0]
            if len(open_brackets) > MAX_DEPTH:
                raise DamageError(TOO_DEEP, at)
        elif kind == _CLOSE and open_brackets.pop() + 2 != token[0][0]:  # as ASCII has it
            raise DamageError(MALFORMED, at)
        if not open_brackets:
            return at, b""
        before = token[0].rstrip()[-1:] or before
    if end_of(UNCLOSED_STRING, buffer, at) < len(buffer):
        raise DamageError(MALFORMED, at + 1)
    return at, before


def whole_parts(piece: bytes, depth: int) -> bytes:
    """A value that was cut off, up to the last of the values that are whole in it inside so many brackets."""
    open_brackets, end, closing = bytearray(), 0, b""
    for token in _TOKEN.finditer(piece):
        if token.lastindex == _OPEN:
            open_brackets += token[0]
        elif token.lastindex == _CLOSE and open_brackets:
            open_brackets.pop()
            if len(open_brackets) == depth:
                end, closing = token.end(), bytes(bracket + 2 for bracket in reversed(open_brackets))  # as ASCII has it
    return piece[:end] + closing


def is_whole(piece: bytes) -> bool:
    """Whether quotes and brackets are in order, so that the damage ends within."""
    open_brackets = bytearray()
    try:
        end, _ = walk(piece, 0, open_brackets, b"[")
    except DamageError:
        return False
    return not open_brackets and end == len(piece)


def end_of(pattern: re.Pattern[bytes], buffer: bytes, at: int) -> int:
    match = pattern.match(buffer, at)
    return at if match is None else match.end()

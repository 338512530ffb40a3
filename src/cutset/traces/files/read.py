"""The spans of a file of traces, whatever it is compressed with and whichever format it has."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from cutset.errors import InputError, UsageError
from cutset.model.span import Span
from cutset.traces.files import alibaba, csv_table, jaeger, nezha, zipkin
from cutset.traces.files import otlp as otlp_file
from cutset.traces.files.compressed import inflated, with_head
from cutset.traces.files.find import STDIN
from cutset.traces.tally import ReadTally

HEAD_BYTES = 64 * 1024  # of the content, by which a format is known
NO_SPANS = "file without spans"


class Format(StrEnum):
    OTLP_JSON = "otlp-json"  # also Tempo's
    OTLP_PROTO = "otlp-proto"
    JAEGER = "jaeger"
    ZIPKIN = "zipkin"
    ALIBABA_2021 = "alibaba-2021"
    ALIBABA_2022 = "alibaba-2022"
    NEZHA = "nezha"
    CSV = "csv"


_READERS: Mapping[Format, Callable[[BinaryIO, ReadTally], Iterator[Span]]] = {
    Format.OTLP_JSON: otlp_file.read_json,
    Format.OTLP_PROTO: otlp_file.read_protobuf,
    Format.JAEGER: jaeger.read,
    Format.ZIPKIN: zipkin.read,
    Format.ALIBABA_2021: alibaba.read,
    Format.ALIBABA_2022: alibaba.read,
    Format.NEZHA: nezha.read,
}

# The keys that only one format has, or has first.
_FORMAT_OF_KEY = {
    **dict.fromkeys(
        (b"resourceSpans", b"batches", b"resource", b"scopeSpans", b"instrumentationLibrarySpans"), Format.OTLP_JSON
    ),
    **dict.fromkeys((b"data", b"traceID", b"spanID", b"processes", b"processID"), Format.JAEGER),
    **dict.fromkeys((b"traceId", b"localEndpoint", b"remoteEndpoint", b"binaryAnnotations"), Format.ZIPKIN),
}
_KNOWN_KEY = re.compile(rb'"(' + rb"|".join(_FORMAT_OF_KEY) + rb')"\s*:')
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER_CELL = re.compile(r"[\w.]+")


class _FileTally(ReadTally):
    """Counts for all files, and says in which one something was."""

    def __init__(self, total: ReadTally, file: str) -> None:
        super().__init__()
        self._total = total
        self._file = file

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        self._total.skip(reason, f"{self._file}: {where}", count)


def read_file(
    path: Path,
    tally: ReadTally,
    format: Format | None = None,  # noqa: A002 – the word that the command line has
    mapping: Path | None = None,
) -> Iterator[Span]:
    """The spans of a file, whatever it is compressed with; a table needs the mapping that explains its columns."""
    name = "standard input" if path == STDIN else str(path)
    file_tally = _FileTally(tally, name)
    before = tally.spans
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if path == STDIN else stack.enter_context(path.open("rb"))
            head, stream = with_head(inflated(file, file_tally), HEAD_BYTES)
            if head.strip():
                for span in _reader(head, name, format, mapping)(stream, file_tally):
                    tally.spans += 1
                    yield span
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    if tally.spans == before:
        tally.skip(NO_SPANS, name)


def _reader(
    head: bytes,
    name: str,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
) -> Callable[[BinaryIO, ReadTally], Iterator[Span]]:
    chosen = format or (Format.CSV if mapping else _format(head, name))
    if chosen is not Format.CSV:
        return _READERS[chosen]
    if mapping is None:
        raise UsageError(
            f"{name} is a table whose columns need an explanation", hint="Say what they mean with `--mapping FILE.yaml`"
        )
    columns = csv_table.load_mapping(mapping)
    return lambda stream, tally: csv_table.read(stream, tally, columns)


def _format(head: bytes, name: str) -> Format:
    content = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _NOT_TEXT.search(head) and b"\x0a" in (head[:1], head[4:5]):
        return Format.OTLP_PROTO
    if (key := _KNOWN_KEY.search(content)) is not None:
        return _FORMAT_OF_KEY[key[1]]
    if content.startswith(b"["):
        return Format.ZIPKIN  # the only one that may be an empty array
    header = {
        cell.lower() for cell in _HEADER_CELL.findall(content.partition(b"\n")[0][:4096].decode(errors="replace"))
    }
    if {"traceid", "rpctype", "um", "dm"} <= header:
        return Format.ALIBABA_2022 if "service" in header or "uminstanceid" in header else Format.ALIBABA_2021
    if {"traceid", "spanid", "podname", "operationname"} <= header:
        return Format.NEZHA
    raise InputError(
        f"The format of {name} is not known: it starts with {content[:40]!r}",
        hint=f"Say which it is with `--format`: {', '.join(Format)}; a table also needs `--mapping`",
    )

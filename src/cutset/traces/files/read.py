"""The spans of a file of traces, whatever it is compressed with and whichever format it has."""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from cutset.errors import InputError, UsageError
from cutset.model.span import Span, SpanRow, row_of, span_of_row
from cutset.traces.files import alibaba, csv_table, jaeger, nezha, zipkin
from cutset.traces.files import otlp as otlp_file
from cutset.traces.files.compressed import content_from, inflated, with_head
from cutset.traces.files.find import STDIN
from cutset.traces.files.in_order import Position, Reader, by_reading_again
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


_READERS: Mapping[Format, Reader] = {
    Format.OTLP_JSON: otlp_file.read_json_rows,
    Format.OTLP_PROTO: otlp_file.read_protobuf_rows,
    Format.JAEGER: jaeger.read_rows,
    Format.ZIPKIN: zipkin.read_rows,
    Format.ALIBABA_2021: by_reading_again(alibaba.read),
    Format.ALIBABA_2022: by_reading_again(alibaba.read),
    Format.NEZHA: by_reading_again(nezha.read),
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
        self.own: Counter[str] = Counter()

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        self.own[reason] += count
        self._total.skip(reason, f"{self._file}: {where}", count)


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Some of the spans of a file, and from where to go on behind them."""

    rows: list[SpanRow]
    position: Position
    bytes_read: int  # of the file as it lies on the disk


def read_file(
    path: Path,
    tally: ReadTally,
    format: Format | None = None,  # noqa: A002 – the word that the command line has
    mapping: Path | None = None,
) -> Iterator[Span]:
    """The spans of a file, whatever it is compressed with; a table needs the mapping that explains its columns."""
    for batch in read_rows(path, tally, format, mapping):
        yield from map(span_of_row, batch.rows)


def read_rows(
    path: Path,
    tally: ReadTally,
    format: Format | None = None,  # noqa: A002
    mapping: Path | None = None,
    position: Position = (),
) -> Iterator[FileBatch]:
    """The same, some at a time, and from a position on: `tally` must then be as it was there."""
    name = "standard input" if path == STDIN else str(path)
    file_tally = _FileTally(tally, name)
    before = tally.spans
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if path == STDIN else stack.enter_context(path.open("rb"))
            head, stream = with_head(inflated(file, ReadTally() if position else file_tally), HEAD_BYTES)
            if head.strip():
                reader = _reader(head, name, format, mapping)
                if position:
                    stream = content_from(file, int(position[0]), file_tally)
                for rows, behind in reader(stream, file_tally, position):
                    tally.spans += len(rows)
                    yield FileBatch(rows, behind, 0 if path == STDIN or not file.seekable() else file.tell())
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    if tally.spans == before and not position:
        _raise_if_unlike(head, name, format, file_tally)
        tally.skip(NO_SPANS, name)


def read_records(
    content: bytes,
    name: str,
    tally: ReadTally,
    format: Format | None = None,  # noqa: A002
) -> Iterator[SpanRow]:
    """The spans of some records, whole, of what is called so in errors."""
    file_tally = _FileTally(tally, name)
    head, stream = with_head(inflated(BytesIO(content), file_tally), HEAD_BYTES)
    if head.strip():
        for rows, _ in _reader(head, name, format, None)(stream, file_tally, ()):
            tally.spans += len(rows)
            yield from rows


def identity(path: Path, *of_reading: object) -> str:
    """By which a file is known again whose reading was interrupted; "" for what cannot be read again, such as a pipe.

    If it has changed since, or is to be read in another way, it is another one.
    """
    if path == STDIN or not path.is_file():
        return ""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return ""
    told = repr((str(path.absolute()), status.st_size, status.st_mtime_ns, *map(str, of_reading)))
    return sha256(told.encode(errors="replace") + head).hexdigest()[:32]


def _raise_if_unlike(head: bytes, name: str, format: Format | None, tally: "_FileTally") -> None:  # noqa: A002
    """Of a file that holds something, but no spans: says what it looks like, if it was said to be something else."""
    reasons = "; ".join(f"{times:,} × {reason}" for reason, times in tally.own.most_common(3))
    try:
        found = format if format is Format.CSV or not head.strip() else _format(head, name)
    except InputError:
        raise InputError(
            f"{name} has no spans in the format `{format}`: it starts with {_start_of(head)!r}",
            hint=f"Its format is one of {', '.join(Format)}, or it is no file of traces; a table needs `--mapping`",
        ) from None
    if format and found not in (format, None) and {found, format} != {Format.ALIBABA_2021, Format.ALIBABA_2022}:
        raise InputError(
            f"{name} has no spans in the format `{format}`: it looks like `{found}`",
            hint=f"Leave out `--format`, or say `--format {found}`",
        )
    if reasons and found is not None:
        raise InputError(
            f"{name} looks like `{found}`, but has no spans: {reasons}",
            hint="If it is in another format, say so with `--format`",
        )


def _reader(
    head: bytes,
    name: str,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
) -> Reader:
    chosen = format or (Format.CSV if mapping else _format(head, name))
    if chosen is not Format.CSV:
        return _READERS[chosen]
    if mapping is None:
        raise UsageError(
            f"{name} is a table whose columns need an explanation", hint="Say what they mean with `--mapping FILE.yaml`"
        )
    columns = csv_table.load_mapping(mapping)
    return by_reading_again(lambda stream, tally: map(row_of, csv_table.read(stream, tally, columns)))


def _format(head: bytes, name: str) -> Format:
    content = _start_of(head, len(head))
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
        f"The format of {name} is not known: it starts with {_start_of(head)!r}",
        hint=f"Say which it is with `--format`: {', '.join(Format)}; a table also needs `--mapping`",
    )


def _start_of(head: bytes, length: int = 40) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:length]

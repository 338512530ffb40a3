"""Spans in tables of comma-separated values (or any other delimiter), whose columns a small YAML file explains:

    trace_id: TraceID            # names of columns: these five are needed
    span_id: SpanID
    service: PodName
    name: OperationName
    start: StartTimeUnixNano
    parent_id: ParentID
    end: EndTimeUnixNano         # or `duration`
    duration: Duration
    kind: SpanKind               # client, server, …; SPAN_KIND_CLIENT and 3 are fine, too
    error: Failed                # true, 1, yes, error, failed
    time_unit: ns                # of `start` and `end`: s, ms, us or ns
    duration_unit: us
    delimiter: ","
    root: root                   # what a root has in the column of parents, besides nothing
    attributes:                  # OpenTelemetry's names, old or new, and the columns that hold them
      http.request.method: Method

Other readers of tables take their lines from here.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

import yaml

from cutset.errors import UsageError
from cutset.manifests.bounded_yaml import BoundedLoader
from cutset.model.span import UNKNOWN_SERVICE, Span, SpanKind
from cutset.model.wording import did_you_mean, known_names
from cutset.traces.conventions import bounded, failed, kept, span_id, trace_id
from cutset.traces.files.times import NS_PER_UNIT, end_after, nanoseconds
from cutset.traces.tally import ReadTally

if TYPE_CHECKING:
    import _csv  # where the type of a reader is

LONGEST_LINE = 1 << 18  # characters: what is longer is read as several lines, so that memory stays bounded

_TRUE = frozenset({"true", "1", "yes", "error", "failed", "status_code_error"})
_KINDS = {kind.value: kind for kind in SpanKind} | {  # OTLP's numbers
    "2": SpanKind.SERVER,
    "3": SpanKind.CLIENT,
    "4": SpanKind.PRODUCER,
    "5": SpanKind.CONSUMER,
}


@dataclass(frozen=True, slots=True)
class Mapping:
    trace_id: str
    span_id: str
    service: str
    name: str
    start: str
    parent_id: str = ""  # no such column, as for those below
    end: str = ""
    duration: str = ""
    kind: str = ""
    error: str = ""
    time_unit: str = "ns"
    duration_unit: str = "ns"
    delimiter: str = ","
    root: str = ""
    attributes: Dictionary[str, str] = field(default_factory=dict)


def load_mapping(path: Path) -> Mapping:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), BoundedLoader)  # noqa: S506 -- a SafeLoader
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="Name the YAML file that explains the columns") from error
    except (ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not YAML: {error}", hint="Correct the YAML there") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} does not map columns", hint="Write lines such as `trace_id: TraceID`")
    for key, value in content.items():
        _check(path, key, value)
    needed = [entry.name for entry in fields(Mapping) if entry.default is entry.default_factory is MISSING]
    missing = [key for key in needed if key not in content]
    if missing:
        hint = "Add " + ", ".join(f"`{key}: <name of the column>`" for key in missing)
        raise UsageError(f"{path} does not say which columns hold {', '.join(missing)}", hint=hint)
    return Mapping(**content)


def _check(path: Path, key: object, value: object) -> None:
    known = [entry.name for entry in fields(Mapping)]
    if key not in known:
        raise UsageError(f"{path}: `{key}` is not known", hint=did_you_mean(str(key), known) or known_names(known))
    expected = ""
    if key == "attributes":
        good = isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)
        expected = "" if good else "attributes and the columns that hold them, such as `http.request.method: Method`"
    elif not isinstance(value, str):
        expected = "a text"
    elif key in ("time_unit", "duration_unit") and value not in NS_PER_UNIT:
        expected = f"one of {', '.join(NS_PER_UNIT)}"
    elif key == "delimiter" and (len(value) != 1 or value in '\r\n"'):
        expected = "one character such as `;`"
    if expected:
        raise UsageError(f"{path}: {key}: expected {expected}, found {value!r:.60}", hint="Correct that line")


def read(stream: BinaryIO, tally: ReadTally, mapping: Mapping) -> Iterator[Span]:
    columns = [
        *(mapping.trace_id, mapping.span_id, mapping.service, mapping.name, mapping.start),
        *(mapping.parent_id, mapping.end, mapping.duration, mapping.kind, mapping.error),
        *mapping.attributes.values(),
    ]
    unit, duration_unit = NS_PER_UNIT[mapping.time_unit], NS_PER_UNIT[mapping.duration_unit]
    for line, row in rows(stream, tally, columns, delimiter=mapping.delimiter):
        trace_text, span_text, service, operation, start, parent, end, duration, kind_text, error, *cells = row
        trace, span, start_ns = trace_id(trace_text), span_id(span_text), nanoseconds(start, unit)
        if not trace or not span:
            tally.skip("CSV line without ids", f"line {line}")
            continue
        if start_ns is None:
            tally.skip("CSV line without a start time", f"line {line}")
            continue
        end_ns = nanoseconds(end, unit) or end_after(start_ns, duration, duration_unit)
        kind = _KINDS.get(kind_text.strip().lower().removeprefix("span_kind_"), SpanKind.INTERNAL)
        attributes = kept({key: cell for key, cell in zip(mapping.attributes, cells, strict=True) if cell})
        yield Span(
            trace,
            span,
            "" if parent == mapping.root else span_id(parent),
            bounded(service) or UNKNOWN_SERVICE,
            bounded(operation),
            kind,
            start_ns,
            max(start_ns, end_ns),
            failed(error.strip().lower() in _TRUE, kind, attributes),
            attributes,
        )


def rows(
    stream: BinaryIO,
    tally: ReadTally,
    columns: Sequence[str],
    *,
    delimiter: str = ",",
    renamed: Dictionary[str, str] = MappingProxyType({}),
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Of each line after the header its number, and its cells in these columns; "" asks for no column and gets ""."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        lines = _lines(csv.reader(iter(partial(text.readline, LONGEST_LINE), ""), delimiter=delimiter), tally)
        header = [renamed.get(title.strip(), title.strip()) for title in next(lines, (0, []))[1]]
        missing = [column for column in columns if column and column not in header]
        if missing:
            tally.skip("CSV file without the columns that are needed", f"the header, which lacks {', '.join(missing)}")
            return
        cells = itemgetter(*(header.index(column) if column else -1 for column in columns))
        for line, row in lines:
            if len(row) < len(header):
                tally.skip("CSV line with too few columns", f"line {line}")
                continue
            row.append("")  # the column that there is not
            yield line, cells(row)
    finally:
        if not stream.closed:
            text.detach()  # or it would close the stream, which is not its own


def _lines(reader: "_csv.Reader", tally: ReadTally) -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            for row in reader:
                if row:
                    yield reader.line_num, row
        except csv.Error:  # a cell of more than 128 KB, as after a quote that is never closed
            tally.skip("CSV line that cannot be read", f"line {reader.line_num}")
        else:
            return

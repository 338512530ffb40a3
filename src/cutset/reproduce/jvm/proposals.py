"""Which jars may be in question, when a case is begun: those whose classes the failure log names."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.model.wording import count
from cutset.reproduce.front_end import ProposedSource
from cutset.reproduce.jvm.class_path import classes_of

_FRAME = re.compile(r"\s*at (?:\S*/)?([\w$.]+)\.[\w$<>]+\(")  # `at java.base/java.io.File.open(File.java:1)`


@dataclass(frozen=True)
class _Index:
    classes: Mapping[str, Sequence[tuple[str, str]]]  # by simple name: full name and entry
    packages: Mapping[str, Sequence[str]]  # entries with classes in them


def proposed_sources(
    records: Sequence[LogRecord],
    scripts: Sequence[str],  # noqa: ARG001 - of the JVM, none
    modules: Sequence[str],
    search_path: Sequence[str],
) -> list[ProposedSource]:
    """The likeliest first: class folders, as of one's own build, before jars; the place of the main class last."""
    index = _index(search_path)
    logged = Counter(entry for record in records for entry in _named(record, index))
    main = {entry for name in modules[:1] for full, entry in index.classes.get(_simple(name), ()) if full == name}
    ranked = sorted(logged, key=lambda entry: (entry in main, Path(entry).is_file(), -logged[entry], entry))
    return [
        ProposedSource(entry, f"the failure log names its classes in {count(logged[entry], 'entry')}")
        for entry in ranked
    ]


def _index(search_path: Sequence[str]) -> _Index:
    classes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    packages: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in search_path:
        for name in classes_of(entry):
            classes[_simple(name)].append((name, entry))
            packages[name.rpartition(".")[0]][entry] = None
    return _Index(classes, {package: list(entries) for package, entries in packages.items()})


def _named(record: LogRecord, index: _Index) -> set[str]:
    """Entries, once for each log entry: loggers are named like classes or packages, and frames have classes.

    In place of the logger some layouts have the statement: `org.shop.Queue.put(Queue.java:12)`.
    """
    frames = [match[1] for line in (f"at {record.logger}", *record.traceback) if (match := _FRAME.match(line))]
    return {entry for name in filter(None, [record.logger, *frames]) for entry in _entries(name, index)}


def _entries(name: str, index: _Index) -> Sequence[str]:
    """Those with a class of this very name, else of one that it may be short for, else those with such a package."""
    alike = index.classes.get(_simple(name), ())
    return (
        [entry for full, entry in alike if full == name]
        or [entry for full, entry in alike if _is_short_for(name, full)]
        or index.packages.get(name, ())
    )


def _is_short_for(name: str, full: str) -> bool:
    """As logs shorten names: `Leader`, `server.Leader`, `o.a.z.server.Leader`."""
    if full.endswith(f".{name}"):
        return True
    short, long = name.split("."), full.split(".")
    return len(short) == len(long) and all(map(str.startswith, long, short))


def _simple(name: str) -> str:
    return name.rpartition(".")[2]

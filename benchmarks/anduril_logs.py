"""Observables of ANDURIL's own logs, as its published lists have them and as `reproduce/logs/difference` finds them.

    python benchmarks/anduril_logs.py FOLDER

FOLDER has a folder for each case, with `good-run-log`, `good-run-log-2`, `bad-run-log` and the lists
`diff_log_original` (good against bad), `diff_log_dd` (the double difference) and `diff_log_dd_set` (set minus), all as
`.txt.gz`. As there, a message is told from others by `class@line`, and is one observable however often it was logged.

Threads are compared as Cutset compares them by default. The last line is JSON.
"""

import gzip
import json
import sys
import time
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.logs.difference import LogEntry, keyed, relevant_observables, surplus
from cutset.reproduce.logs.reading import formats_of, read_log

DIALECT = JvmLogs()
LISTS = ("original", "dd", "dd_set")


def text(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        return file.read()


def class_and_line(record: LogRecord) -> list[str]:
    return [record.logger.replace("@", " ")] if "@" in record.logger else []


def observables(good: list[LogEntry], bad: list[LogEntry], other: list[LogEntry]) -> dict[str, set[str]]:
    original = {observable.key for observable in relevant_observables(good, bad)}
    return {
        "original": original,
        "dd": {observable.key for observable in relevant_observables(good, bad, other)},
        "dd_set": original - {entry.key for entry in surplus(good, other)},
    }


def compare(case: Path) -> dict[str, dict[str, object]]:
    names = ("good-run-log", "bad-run-log", "good-run-log-2")
    texts = [text(case / f"{name}.txt.gz") for name in names]
    formats = formats_of(*texts, dialect=DIALECT)
    logs = (keyed(read_log(each, formats, dialect=DIALECT), class_and_line) for each in texts)
    found = observables(*logs)
    result = {}
    for name in LISTS:
        ours, published = found[name], set(text(case / f"diff_log_{name}.txt.gz").split("\n")) - {""}
        result[name] = {
            "published": len(published),
            "ours": len(ours),
            "precision": round(len(ours & published) / len(ours), 3) if ours else 1.0,
            "recall": round(len(ours & published) / len(published), 3) if published else 1.0,
            "only_ours": sorted(ours - published),
            "only_published": sorted(published - ours),
        }
    return result


def main(folder: Path) -> None:
    start = time.process_time()
    report = {case.name: compare(case) for case in sorted(folder.iterdir()) if case.is_dir()}
    for case, lists in report.items():
        for name, row in lists.items():
            print(
                f"{case:16} {name:9} published {row['published']:4} ours {row['ours']:4} "
                f"precision {row['precision']:.3f} recall {row['recall']:.3f}"
            )
            if row["only_ours"] or row["only_published"]:
                print(f"    only ours {row['only_ours']}, only published {row['only_published']}")
    rows = [row for lists in report.values() for row in lists.values()]
    summary = {
        "cases": {
            case: {name: [row["precision"], row["recall"]] for name, row in lists.items()}
            for case, lists in report.items()
        },
        "lists": len(rows),
        "equal_lists": sum(not row["only_ours"] and not row["only_published"] for row in rows),
        "cpu_s": round(time.process_time() - start, 2),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

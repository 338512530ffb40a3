"""Class files to tables, by `cutset-jvm.jar`, which reads them without running anything of them.

The tables are JSON lines; `tables` makes a program of them. Those of files that have not changed are kept.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cutset.errors import CutsetError, InputError, UsageError
from cutset.reproduce.jvm.class_path import is_path
from cutset.reproduce.jvm.jar import find_java, jvm_jar
from cutset.reproduce.jvm.java_version import java_version, refuse_old_java
from cutset.reproduce.jvm.program_cache import load, save, tables_key
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.settings import FailureCase

MOST_MEMORY = "1500m"  # of the extracting JVM; HDFS takes 300 MB
# It runs for seconds: code that is compiled well, and collectors with threads, cost more than they give.
_SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_UNKNOWN_SOURCE = 3  # exit code
_SHOWN = 5  # names that are alike, in a hint


def extract(case: FailureCase, progress: Progress = nobody_watches, cache: Path | None = None) -> bytes:
    """The tables of `case.sources` and `case.drivers`, found along `case.search_path`."""
    java = find_java(case.runtime or None)
    refuse_old_java(java)
    request = {
        "sources": [_asked_for(name) for name in case.sources],
        "drivers": [_asked_for(name) for name in case.drivers],
        "class_path": list(case.search_path),
    }
    read = (*case.search_path, *filter(is_path, (*case.sources, *case.drivers)))
    key = tables_key(request, read, jvm_jar(), (java, java_version(java))) if cache else ""
    tables = load(cache, key) if cache else None
    if tables is None:
        tables = _extracted(java, request, progress)
        if cache:
            save(cache, key, tables)
    return tables


def _asked_for(name: str) -> str:
    """A path as it is; a package or class as the extractor looks for one."""
    if not is_path(name) and not Path(name).is_dir():
        return f"package:{name}"
    path = Path(name).absolute()
    if not path.exists():
        raise UsageError(f"There is no `{name}` to analyse", hint="Name a jar, a class folder or a package")
    if path.is_file() and path.suffix.lower() not in (".jar", ".war", ".zip"):
        raise UsageError(f"`{name}` is no jar", hint="Name a jar, a class folder, or a package on the class path")
    return str(path)


def _extracted(java: str, request: dict[str, list[str]], progress: Progress) -> bytes:
    with tempfile.TemporaryDirectory(prefix="cutset-extract-") as folder:
        asked, answer, errors = Path(folder, "request.json"), Path(folder, "tables.jsonl"), Path(folder, "errors")
        asked.write_text(json.dumps(request), encoding="utf-8")
        words = [java, f"-Xmx{MOST_MEMORY}", *_SHORT_LIVED, "-jar", str(jvm_jar()), "extract", str(asked), str(answer)]
        last = ""
        with errors.open("wb") as complaints, _running(words, complaints) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last = line
                if (count := line.split()) and len(count) == 2 and count[0].isdigit():
                    progress(int(count[0]), int(count[1]), "classes")
        if process.returncode == _UNKNOWN_SOURCE:
            raise _unknown(**json.loads(last))
        if process.returncode:
            raise _failed(process.returncode, errors.read_text(errors="replace"))
        return answer.read_bytes()


@contextmanager
def _running(words: Sequence[str], errors: Any) -> Iterator[subprocess.Popen[str]]:
    """Ended when whoever watches its progress has had enough."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
    )
    try:
        with process:
            yield process
    except BaseException:
        process.kill()
        raise


def _unknown(unknown: str, packages: Sequence[str]) -> CutsetError:
    alike = get_close_matches(unknown, packages, _SHOWN, cutoff=0.75) or [
        name for name in packages if name.rpartition(".")[2] == unknown.rpartition(".")[2]
    ]
    if not packages:
        hint = "No class is on the class path of the workload: does its command name one?"
    elif alike:
        hint = f"Did you mean {' or '.join(f'`{name}`' for name in alike[:_SHOWN])}?"
    else:
        roots = sorted({".".join(name.split(".")[:2]) for name in packages})
        hint = f"There are: {', '.join(f'`{name}`' for name in roots[:_SHOWN])}{' …' * (len(roots) > _SHOWN)}"
    return UsageError(f"`{unknown}` is neither a jar, a class folder, nor a package on the class path", hint=hint)


def _failed(code: int, errors: str) -> CutsetError:
    if "OutOfMemoryError" in errors:
        return InputError(
            f"The program is too large to be analysed within {MOST_MEMORY} of memory",
            hint="Name fewer sources: packages, in place of whole jars",
        )
    said = errors.strip().splitlines()
    return CutsetError(
        f"The program could not be analysed: {said[0] if said else f'java ended with {code}'}",
        hint="Does `java -version` work? Else this is a bug of Cutset: report it with these words",
    )

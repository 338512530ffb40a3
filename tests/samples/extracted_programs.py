"""Cases whose programs are read, not run, and the classes of the sample `extracted`."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.samples.java_samples import compiled_sample

from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase


def case_of(
    sources: Sequence[str], class_path: Sequence[Path], drivers: tuple[str, ...] = (), java: str = ""
) -> FailureCase:
    return FailureCase(
        sources=tuple(sources),
        search_path=tuple(map(str, class_path)),
        drivers=drivers,
        failure_log="",
        workload=Workload(("java",), 1.0),
        oracle=parse_oracle("exit:1"),
        runtime=java,
    )


@cache
def log_apis() -> Path:
    return compiled_sample("log_apis")


def extracted_classes(*options: str) -> Path:
    """Options are javac's."""
    return compiled_sample("extracted", "-cp", str(log_apis()), *options)

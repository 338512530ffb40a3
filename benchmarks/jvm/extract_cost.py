"""What it costs to read large JVM programs, and what is found in them: CPU seconds and memory of the extracting JVM.

python -m benchmarks.jvm.extract_cost

Each program in a process of its own, whose only children are JVMs.
"""

import json
import resource
import subprocess
import sys
from typing import Any

from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.tables import FILLED_IN, JvmProgram, read_tables
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase
from jvm.maven import jars

# By program: what is analysed; what else it needs to know of.
PROGRAMS = {
    "zookeeper": (["org.apache.zookeeper:zookeeper:3.5.1-alpha"], ["org.slf4j:slf4j-api:1.7.5"]),
    "hdfs": (
        ["org.apache.hadoop:hadoop-hdfs:3.1.2", "org.apache.hadoop:hadoop-hdfs-client:3.1.2"],
        [
            "org.apache.hadoop:hadoop-common:3.1.2",
            "org.slf4j:slf4j-api:1.7.25",
            "com.google.protobuf:protobuf-java:2.5.0",
            "com.google.guava:guava:11.0.2",
        ],
    ),
    "kafka": (
        ["org.apache.kafka:kafka_2.13:2.7.0", "org.apache.kafka:kafka-clients:2.7.0"],
        ["org.scala-lang:scala-library:2.13.3", "org.slf4j:slf4j-api:1.7.30"],
    ),
}


def extract_costs() -> dict[str, Any]:
    found = {}
    for name in PROGRAMS:
        words = [sys.executable, "-m", "benchmarks.jvm.extract_cost", name]
        found[name] = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    return {
        "extract_seconds": {name: each["seconds"] for name, each in found.items()},
        "extract_mb": {name: each["mb"] for name, each in found.items()},
        "extracted": found,
    }


def _measured(name: str) -> dict[str, Any]:
    sources, others = (jars(coordinates) for coordinates in PROGRAMS[name])
    case = FailureCase(
        sources=tuple(map(str, sources)),
        search_path=tuple(map(str, (*sources, *others))),
        drivers=(),
        failure_log="",
        workload=Workload(("java",), 1.0),
        oracle=parse_oracle("exit:1"),
    )
    tables = extract(case)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(used.ru_utime + used.ru_stime, 1),
        "mb": used.ru_maxrss // 1000,
        "tables_mb": round(len(tables) / 1e6, 1),
        **_counts(read_tables(tables)),
    }


def _counts(program: JvmProgram) -> dict[str, int]:
    logged = [each for each in program.statements if each.level]  # what is printed is often no more than a value
    without = [each for each in logged if not any(map(str.isalnum, each.template.replace(FILLED_IN, "")))]
    return {
        "classes": sum(row.kind == 2 for row in program.classes),
        "lines": program.lines,
        "sites": len(program.sites),
        "sites_with_exceptions": sum(bool(row.declared or row.is_raise) for row in program.site_rows),
        "log_statements": len(logged),
        "without_text": len(without),
        "skipped": len(program.skipped),
    }


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1]) if len(sys.argv) > 1 else extract_costs()))

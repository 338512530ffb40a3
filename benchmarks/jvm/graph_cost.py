"""What the causal graph of large JVM programs costs: CPU seconds and memory, from the extractor's tables on.

python -m benchmarks.jvm.graph_cost

Each program in a process of its own, whose memory is measured; the messages are spread over its warnings and errors.
"""

import json
import re
import resource
import subprocess
import sys
import time

from cutset.reproduce.graph.distances import reaches
from cutset.reproduce.jvm.causal import causal_graph
from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.tables import JvmProgram, read_tables
from cutset.reproduce.logs.levels import HARMLESS, usual_level
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.logs.statements import LogStatement
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase
from jvm.maven import jars

# By program: how many messages are explained; what is analysed; what else it needs to know of.
PROGRAMS = {
    "zookeeper": (22, ("org.apache.zookeeper:zookeeper:3.5.1-alpha",), ("org.slf4j:slf4j-api:1.7.5",)),
    "hdfs": (
        30,
        ("org.apache.hadoop:hadoop-hdfs:3.1.2", "org.apache.hadoop:hadoop-hdfs-client:3.1.2"),
        (
            "org.apache.hadoop:hadoop-common:3.1.2",
            "org.slf4j:slf4j-api:1.7.25",
            "com.google.protobuf:protobuf-java:2.5.0",
            "com.google.guava:guava:11.0.2",
        ),
    ),
}


def graph_costs() -> dict[str, dict[str, float]]:
    """`graph_seconds` by program, and what belongs to it."""
    found: dict[str, dict[str, float]] = {}
    for name in PROGRAMS:
        command = [sys.executable, "-m", "benchmarks.jvm.graph_cost", name]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        for key, value in json.loads(said.splitlines()[-1]).items():
            found.setdefault(key, {})[name] = value
    return found


def graph_cost(name: str) -> dict[str, float]:
    messages, sources, others = PROGRAMS[name]
    analysed, known = (tuple(map(str, jars(coordinates))) for coordinates in (sources, others))
    case = FailureCase(analysed, (*analysed, *known), (), "", Workload(("java",), 1), parse_oracle('log:"never"'))
    tables = extract(case)
    begun = time.process_time()
    program = read_tables(tables)
    read = time.process_time()
    near = reaches(causal_graph(program, _spread(program, messages)))
    return {
        "graph_seconds": round(time.process_time() - begun, 1),
        "graph_read_seconds": round(read - begun, 1),
        "graph_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        "graph_methods": len(program.functions),
        "graph_sites": len(near),
    }


def _spread(program: JvmProgram, messages: int) -> list[Sighting]:
    bad = [number for number, row in enumerate(program.statements) if usual_level(row.level) not in HARMLESS]
    chosen = bad[:: max(1, len(bad) // messages)][:messages]
    return [_sighting(program.statements[number].key, number) for number in chosen]


def _sighting(key: str, number: int) -> Sighting:
    return Sighting(key, LogStatement(key, number, "", "", re.compile(""), (), anchored=False))


if __name__ == "__main__":
    print(json.dumps(graph_cost(sys.argv[1]) if sys.argv[1:] else graph_costs()))

"""A failure of ZooKeeper (ZOOKEEPER-3006), searched for as the benchmark does. Needs a JDK and Maven."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.jvm.failures import CASES, has_jdk, read_case
from jvm.maven import NoSuchJarError, jars
from tests.samples.java_samples import built_jar

ROOT = Path(__file__).parents[2]
CASE = "zookeeper-3006"


def test_the_true_cause_is_found_by_the_failure_log_and_replays(tmp_path: Path) -> None:
    if not has_jdk():
        pytest.skip("there is no JDK: `java` and `javac`")
    try:
        jars(read_case(CASES / "seen" / CASE).jars)
    except NoSuchJarError as error:
        pytest.skip(f"ZooKeeper cannot be had: {error}")
    built_jar()
    options = ["--cases", CASE, "--quick", "--rounds", "12", "--minutes", "5", "--environments", tmp_path]
    command = [sys.executable, "-m", "benchmarks.jvm", *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    numbers = json.loads(ran.stdout.splitlines()[-1])
    counted = ("cases", "paper_cases", "reproduced", "true_cause", "replay_stable")
    assert {key: numbers[key] for key in counted} == dict.fromkeys(counted, 1), ran.stdout
    assert numbers["paper_median_rounds"] == 13
    assert (numbers["skipped"], numbers["left_out"], numbers["errors"]) == ([], [], {})

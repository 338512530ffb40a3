"""Small programs for tests of the analysis, and what it says of them."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.graph.distances import path, reaches
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.python.causal import causal_graph
from cutset.reproduce.python.log_dialect import PythonLogs
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.syntax import PythonProgram


def read_python_log(log: str | Sequence[str], pattern: str | None = None) -> list[LogRecord]:
    dialect = PythonLogs()
    return read_log(log, formats_of(log, pattern=pattern, dialect=dialect), dialect=dialect)


def read_app(tmp_path: Path, text: str, driver: str = "") -> PythonProgram:
    """A module `app`, and a script that drives it."""
    (tmp_path / "app.py").write_text(textwrap.dedent(text))
    (tmp_path / "drive.py").write_text(textwrap.dedent(driver))
    return read_program(["app"], [str(tmp_path)], [str(tmp_path / "drive.py")])


def read_package(folder: Path, **modules: str) -> PythonProgram:
    """A package `app` of these modules."""
    root = folder / "app"
    root.mkdir(exist_ok=True)
    (root / "__init__.py").touch()
    for name, text in modules.items():
        (root / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return read_program(["app"], [str(folder)])


def sites_of(program: PythonProgram) -> list[str]:
    return [str(site).removeprefix("app.") for site in program.sites]


def callees_of(program: PythonProgram, expression: str) -> set[str]:
    """Of all calls that are written so."""
    return {
        program.functions[callee].name
        for index, event in enumerate(program.events)
        if event.expression == expression
        for callee in program.callees[index]
    }


def graph_of(program: PythonProgram, *, missing: bool = False) -> CausalGraph:
    """From every log statement of the program, under the first words of its message."""
    statements = [one for one in log_statements(program) if one.literals]
    return causal_graph(program, [Sighting(one.literals[0], one, missing=missing) for one in statements])


def distances_in(tmp_path: Path, text: str, driver: str = "", *, missing: bool = False) -> dict[str, dict[str, int]]:
    program = read_app(tmp_path, text, driver)
    found = reaches(graph_of(program, missing=missing))
    return {
        str(program.sites[site]).removeprefix("app::"): {key: reach.steps for key, reach in reached.items()}
        for site, reached in found.items()
    }


def chain_in(tmp_path: Path, text: str, site: str, message: str, driver: str = "") -> list[tuple[CausalKind, str]]:
    program = read_app(tmp_path, text, driver)
    number = next(index for index, one in enumerate(program.sites) if str(one) == f"app::{site}")
    return [(node.kind, node.text) for node in path(graph_of(program), number, message)]

"""The solvers that `solver.py` compares with, each replaying a recorded exploration."""

import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from benchmarks.fastfi_solver import dfs_based_solver

Clauses = list[list[int]]
Solve = Callable[[Clauses, int, float], list[frozenset[int]] | None]  # the deadline; None: not done by then


@dataclass(frozen=True, slots=True)
class Recording:
    """An exploration, as its solver sees it: how many of the clauses are known, and the k asked for, at each step."""

    name: str
    clauses: Clauses
    steps: tuple[tuple[int, int], ...]
    injections: int


@dataclass(frozen=True, slots=True)
class Replay:
    seconds: float
    counts: tuple[int, ...]  # the number of sets at each step that was done in time
    done: bool


def replay_fastfi(recording: Recording, cap: float) -> Replay:
    return _from_scratch(recording, cap, lambda clauses, size, _deadline: dfs_based_solver(clauses, size))


def replay_z3(recording: Recording, cap: float) -> Replay:
    return _from_scratch(recording, cap, solve_with_z3)


def replay_hitman(recording: Recording, cap: float) -> Replay:
    return _from_scratch(recording, cap, solve_with_hitman)


def replay_cadical(recording: Recording, cap: float) -> Replay:
    return _from_scratch(recording, cap, _solve_with_cadical)


def replay_glucose(recording: Recording, cap: float) -> Replay:
    """One solver for all steps: clauses are added, k is an assumption, and blocking clauses end with their step."""
    solvers, cards = _load("pysat.solvers"), _load("pysat.card")
    start = time.perf_counter()
    points = max(map(max, recording.clauses)) + 1
    totalizer = cards.ITotalizer(range(1, points + 1), ubound=recording.steps[-1][1], top_id=points)
    top, known, counts = totalizer.top_id, 0, []
    with solvers.Solver("glucose4", bootstrap_with=totalizer.cnf.clauses) as solver:
        for number, size in recording.steps:
            for clause in recording.clauses[known:number]:
                solver.add_clause([point + 1 for point in clause])
            known = number
            clauses = [frozenset(clause) for clause in recording.clauses[:number]]
            top += 1
            found = 0
            while solver.solve(assumptions=[-totalizer.rhs[size], top]):
                chosen = _shrunk({literal - 1 for literal in solver.get_model()[:points] if literal > 0}, clauses)
                solver.add_clause([-top, *(-point - 1 for point in chosen)])
                found += 1
                if time.perf_counter() - start > cap:
                    return Replay(cap, tuple(counts), done=False)
            solver.add_clause([-top])
            counts.append(found)
    return Replay(time.perf_counter() - start, tuple(counts), done=True)


PYSAT_PEERS = {
    "PySAT: Glucose 4, one totalizer": replay_glucose,
    "PySAT: Hitman, sorted": replay_hitman,
    "PySAT: CaDiCaL, totalizer": replay_cadical,
}


def solve_with_z3(clauses: Clauses, max_size: int, deadline: float) -> list[frozenset[int]] | None:
    z3 = _load("z3")
    points = {point: z3.Bool(f"p{point}") for point in sorted({point for clause in clauses for point in clause})}
    solver = z3.SolverFor("QF_FD")
    solver.add(
        *(z3.Or([points[point] for point in clause]) for clause in clauses), z3.AtMost(*points.values(), max_size)
    )
    as_sets = [frozenset(clause) for clause in clauses]
    found = []
    while (left := deadline - time.perf_counter()) > 0:
        solver.set("timeout", int(left * 1000) + 1)
        answer = solver.check()
        if answer == z3.unknown:
            return None
        if answer == z3.unsat:
            return found
        model = solver.model()
        found.append(_shrunk({point for point, value in points.items() if z3.is_true(model.eval(value))}, as_sets))
        solver.add(z3.Or([z3.Not(points[point]) for point in found[-1]]))
    return None


def solve_with_hitman(clauses: Clauses, max_size: int, deadline: float) -> list[frozenset[int]] | None:
    found: list[frozenset[int]] = []
    numbered = [[point + 1 for point in clause] for clause in clauses]  # the literal 0 is taken
    with _load("pysat.examples.hitman").Hitman(bootstrap_with=numbered, solver="g4", htype="sorted") as hitman:
        while time.perf_counter() < deadline:
            chosen = hitman.get()
            if chosen is None or len(chosen) > max_size:
                return found
            found.append(frozenset(point - 1 for point in chosen))
            hitman.block(chosen)
    return None


def _solve_with_cadical(clauses: Clauses, max_size: int, deadline: float) -> list[frozenset[int]] | None:
    solvers, cards = _load("pysat.solvers"), _load("pysat.card")
    points = max(map(max, clauses)) + 1
    literals = sorted({point + 1 for clause in clauses for point in clause})
    at_most = cards.CardEnc.atmost(literals, max_size, top_id=points, encoding=cards.EncType.totalizer)
    as_sets = [frozenset(clause) for clause in clauses]
    found = []
    numbered = [[point + 1 for point in clause] for clause in clauses]
    with solvers.Solver("cadical195", bootstrap_with=numbered + at_most.clauses) as solver:
        while time.perf_counter() < deadline:
            if not solver.solve():
                return found
            model = {literal - 1 for literal in solver.get_model()[:points] if literal > 0}
            found.append(_shrunk(model, as_sets))
            solver.add_clause([-point - 1 for point in found[-1]])
    return None


def _from_scratch(recording: Recording, cap: float, solve: Solve) -> Replay:
    start = time.perf_counter()
    counts: list[int] = []
    for number, size in recording.steps:
        found = solve(recording.clauses[:number], size, start + cap)
        if found is None or time.perf_counter() - start > cap:
            return Replay(cap, tuple(counts), done=False)
        counts.append(len(found))
    return Replay(time.perf_counter() - start, tuple(counts), done=True)


def _shrunk(chosen: set[int], clauses: list[frozenset[int]]) -> frozenset[int]:
    """A model hits all clauses; what it can spare goes."""
    for point in sorted(chosen):
        if all(len(clause & chosen) > 1 for clause in clauses if point in clause):
            chosen = chosen - {point}
    return frozenset(chosen)


def load_peers() -> None:
    """So that their import is in no measurement, and that a missing one is noticed at once."""
    for module in ("z3", "pysat.solvers", "pysat.card", "pysat.examples.hitman"):
        _load(module)


def _load(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        sys.exit(f"error: `{module}` is needed for this benchmark\n\nhint: Run `pip install 'cutset[bench]'`")

import pytest
from benchmarks.solver_peers import PYSAT_PEERS, Recording, replay_fastfi, replay_z3

from benchmarks import solver
from cutset.search.hitting_sets import minimal_hitting_sets


@pytest.fixture(scope="module")
def recording() -> Recording:
    return solver.replicated_request("small", apis=4, replicas=2, sticky=0.5, seed=1)


@pytest.mark.parametrize(("configuration", "overlap"), list(zip(solver.CONFIGURATIONS, solver.TABLE_7, strict=True)))
def test_overlap_of_every_configuration_is_that_of_table_7(configuration: tuple[int, int, int], overlap: float) -> None:
    assert round(solver.average_clause_overlap(solver.grouped_skeleton(*configuration)), 4) == overlap


@pytest.mark.parametrize(("edges", "groups", "bones", "injections"), [(50, 2, 2, 8), (100, 3, 6, 222)])
def test_injections_are_those_of_the_paper(edges: int, groups: int, bones: int, injections: int) -> None:
    paths = solver.grouped_skeleton(edges, groups, bones)
    exploration = solver.explore("", lambda failing: solver.first_path(paths, failing), groups, seed=1)
    assert exploration.injections == injections


@pytest.mark.parametrize(("groups", "bones"), [(2, 1), (2, 2), (3, 1), (3, 2)])
def test_closed_form_of_the_number_of_sets(groups: int, bones: int) -> None:
    clauses = [solver.bit_set(clause) for clause in solver.grouped_skeleton(10, groups, bones)]
    for size in range(2 * groups + 1):
        listed = len(list(minimal_hitting_sets(clauses, size)))
        assert solver.number_of_minimal_sets(10, groups, bones, size) == listed


def test_a_shuffle_keeps_the_shape(recording: Recording) -> None:
    shuffled = solver.shuffled(recording.clauses, seed=2)
    assert shuffled != recording.clauses
    assert solver.average_clause_overlap(shuffled) == pytest.approx(solver.average_clause_overlap(recording.clauses))


def test_all_solvers_agree(recording: Recording) -> None:
    pytest.importorskip("z3")
    pytest.importorskip("pysat")
    ours = solver.replay_ours(recording)
    for peer in (replay_fastfi, replay_z3, *PYSAT_PEERS.values()):
        replay = peer(recording, 60)
        assert replay.done
        assert replay.counts == ours.counts


def test_a_solver_that_is_capped_says_so(recording: Recording) -> None:
    replay = replay_fastfi(recording, 0)
    assert not replay.done
    assert replay.seconds == 0

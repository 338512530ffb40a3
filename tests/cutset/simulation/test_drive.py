from tests.samples.simulated_systems import Everything, cut, points

from cutset.model.outcome import Points
from cutset.simulation.drive import SearchCost, drive
from cutset.simulation.simulated import All, Call, Conditions, Simulation, all_points


def test_driving_counts_faults_questions_and_requests() -> None:
    system = All((Call("A"), Call("B")))
    asked = Everything(all_points(system), 1)

    tally = drive(asked, Simulation(system, Conditions(repeats=3)))

    assert tally == SearchCost(injections=2, rounds=2, requests=1 + 2 * 3)
    assert asked.failing == {cut("A"), cut("B")}


def test_a_search_is_asked_for_so_many_cuts_at_a_time() -> None:
    limits = []

    class Noting(Everything):
        def ask(self, limit: int) -> list[Points]:
            limits.append(limit)
            return super().ask(limit)

    cost = drive(Noting(points("A", "B"), 2), Simulation(All((Call("A"), Call("B")))), limit=7)

    assert set(limits) == {7}
    assert cost.injections == 3

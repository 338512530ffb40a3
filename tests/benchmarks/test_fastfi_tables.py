from benchmarks.fastfi_tables import TABLE_5, system_of

from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import all_points


def test_the_means_are_those_that_fastfi_prints() -> None:
    """§4.2.3 and §4.4.3; a slip in copying a number would show here."""
    columns = ("ldfi", "intellifi", "microfi", "fastfi", "static")
    means = [sum(getattr(row, column) for row in TABLE_5) // len(TABLE_5) for column in columns]

    assert means == [661, 604, 608, 163, 517]
    assert round(sum(row.overlap for row in TABLE_5) / len(TABLE_5), 2) == 0.41
    assert sum(row.fastfi for row in TABLE_5) == 5239


def test_a_system_fails_when_all_replicas_of_a_needed_api_do() -> None:
    row = next(row for row in TABLE_5 if row.name == "SS-4 GET /login")

    (cut,) = minimal_cuts_by_brute_force(system_of(row), 4)

    assert {fault.point.api for fault in cut} == {"api-00"}
    assert len(all_points(system_of(row))) == 8

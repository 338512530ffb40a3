import pytest
from benchmarks.mesh_graph import WAYS, seen_graph


@pytest.mark.parametrize("way", WAYS)
def test_traces_of_a_real_mesh_give_the_true_services_and_calls(way: str) -> None:
    found = seen_graph(way)

    assert found.is_right, found

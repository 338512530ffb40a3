"""What both places do is in `test_local.py` and `test_cluster.py`: here, that they are places."""

from pathlib import Path

from tests.samples.cluster_in_memory import ClusterInMemory

from cutset.model.hardening import MeshChanging
from cutset.verify.cluster import ClusterPlace
from cutset.verify.local import FilePlace
from cutset.verify.place import ChangeablePlace, Prospect


def test_a_file_and_a_cluster_are_places() -> None:
    places: list[ChangeablePlace] = [
        FilePlace(Path("mesh.yaml")),
        ClusterPlace(ClusterInMemory().cluster, ("shop",), "test"),
    ]
    assert len(places) == 2


def test_a_prospect_holds_nothing_but_what_it_is_told() -> None:
    prospect = Prospect(MeshChanging(added=(), kept=(), left_out=()))
    assert (prospect.settings, prospect.repeats, prospect.signs, prospect.text) == ({}, {}, (), "")

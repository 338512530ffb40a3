"""The file of a local mesh, without a mesh; with one, it is in `test_run.py`."""

import asyncio
from pathlib import Path

import pytest
from tests.samples.simulated_hardening import MESH, SERVICES, decision

from cutset.errors import TargetError
from cutset.model.hardening import CallsObserved, MeshChanging
from cutset.verify.local import FilePlace

OBSERVED = CallsObserved(efforts={})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mesh.yaml"
    path.write_text(MESH)
    return path


def test_a_plan_touches_nothing_and_tells_what_the_file_would_be(file: Path) -> None:
    prospect = asyncio.run(FilePlace(file).plan(decision(), SERVICES, OBSERVED))
    assert file.read_text() == MESH
    assert "last-good" in prospect.text
    assert (prospect.change.file, prospect.change.original) == (file, file.with_name("mesh.yaml.before"))
    assert set(prospect.settings) == {"cart", "ad"}


def test_retries_that_are_put_there_are_told(file: Path) -> None:
    services = tuple(each.__class__(each.name, each.protocol, each.replicas, retries=0) for each in SERVICES)
    prospect = asyncio.run(FilePlace(file).plan(decision(), services, OBSERVED))
    assert {str(api): number for api, number in prospect.repeats.items()} == {"ad/GetAds": 1, "cart/GetCart": 1}


def test_what_no_mesh_would_run_from_is_refused_before_anything_is_begun(file: Path) -> None:
    with pytest.raises(TargetError, match="nothing was changed: no such field"):
        asyncio.run(FilePlace(file, lambda _: "no such field").plan(decision(), SERVICES, OBSERVED))


def test_what_was_never_changed_has_nothing_to_be_taken_back(file: Path) -> None:
    change = MeshChanging(file=file, original=file.with_name("none"), added=("x",), kept=(), left_out=())
    assert asyncio.run(FilePlace(file).take_back(change)) == ""

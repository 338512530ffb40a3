"""With a mesh, they are in `end_to_end/test_harden_apply.py`; in a cluster, in `tests/istio/test_harden.py`."""

import asyncio
from pathlib import Path

import pytest
from tests.samples.simulated_hardening import MESH, HardenableLaboratory

from cutset.app.harden_place import Apply, Opened, Steps, opened_place, services_of_file
from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.verify.local import FilePlace


def opened(folder: Path, steps: Steps, more: str = "") -> Opened:
    config = folder / "cutset.yaml"
    config.write_text(f"target: {{url: 'http://127.0.0.1:1'}}\nrequests: [{{path: /}}]\n{more}\n")

    async def place() -> Opened:
        async with opened_place(steps, load_config(config), HardenableLaboratory(folder)) as found:
            return found

    return asyncio.run(place())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mesh.yaml"
    path.write_text(MESH)
    return path


def test_a_local_mesh_is_changed_by_its_file_and_only_if_that_is_wanted(file: Path, tmp_path: Path) -> None:
    place, services = opened(tmp_path, Steps(file, Apply.LOCAL))
    assert isinstance(place, FilePlace)
    assert place.file == file
    assert [each.name for each in services] == ["web", "cart", "ad", "payment"]
    assert opened(tmp_path, Steps(file, verify=True)) == (None, services)
    assert opened(tmp_path, Steps(verify=True)) == (None, ())


def test_what_no_mesh_would_run_from_is_told(file: Path, tmp_path: Path) -> None:
    place, _ = opened(tmp_path, Steps(file, Apply.LOCAL))
    assert isinstance(place, FilePlace)
    assert "services" in place.refused("entry: web")


def test_a_cluster_must_be_known_to_be_changed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no section `istio`") as caught:
        opened(tmp_path, Steps(apply=Apply.ISTIO))
    assert "cutset init" in caught.value.hint


def test_a_local_mesh_must_be_known_to_be_changed() -> None:
    with pytest.raises(UsageError, match=r"no mesh\.yaml"):
        Steps(apply=Apply.LOCAL)
    assert services_of_file(None) == ()


def test_a_local_mesh_is_meant_if_that_is_said_whatever_else_the_configuration_has(file: Path, tmp_path: Path) -> None:
    place, _ = opened(tmp_path, Steps(file, Apply.LOCAL), "istio: {namespaces: [shop]}")
    assert isinstance(place, FilePlace)

"""Examples and the reference of the configuration say what is true."""

from dataclasses import fields
from pathlib import Path

from cutset.campaign.settings import Limits, SearchChoice
from cutset.config.explore import load_config, load_mesh
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Expectation
from cutset.model.target import Receiver, Target

ROOT = Path(__file__).parent.parent


def test_the_example_configuration_is_valid() -> None:
    config = load_config(ROOT / "examples" / "cutset.yaml")

    assert [request.name for request in config.requests] == ["GET /", "POST /orders"]
    assert config.target.url == "http://127.0.0.1:9080"
    assert load_mesh(ROOT / "examples" / "cutset.yaml").entry == "web"


def test_every_setting_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    kinds = (Target, Receiver, Limits, SearchChoice, Expectation, MeshService, MeshSpec)
    # The key of a service, the table itself, a switch for benchmarks, what is put in when the mesh starts, and what
    # the mesh calls its servers.
    internal = {"name", "services", "filters", "first_filters", "stand_in", "names"}

    names = {field.name for kind in kinds for field in fields(kind)} - internal
    assert [name for name in sorted(names) if f"{name}`" not in reference] == []

"""`import cutset`: light, whole, and typed. What the functions do is tested where they are."""

import json
import subprocess
import sys

import pytest

import cutset

HEAVY = ("aiohttp", "duckdb", "google.protobuf", "grpc", "numpy", "pydantic", "rich", "scipy", "starlette", "uvicorn")


def loaded_after(statement: str) -> set[str]:
    program = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_it_loads_nothing_but_itself() -> None:
    loaded = loaded_after("import cutset")

    assert {name for name in loaded if name.startswith("cutset")} == {"cutset"}
    assert not loaded & set(HEAVY)


def test_reading_a_configuration_loads_no_server_or_client() -> None:
    loaded = loaded_after("import cutset\ncutset.load_config\nimport cutset.config.drill, cutset.config.harden")

    assert "cutset.config.explore" in loaded
    assert not loaded & {"aiohttp", "grpc", "uvicorn", "starlette", "opentelemetry.proto"}


@pytest.mark.parametrize("name", cutset.__all__)
def test_everything_that_is_promised_is_there(name: str) -> None:
    assert getattr(cutset, name)
    assert name in dir(cutset)


def test_what_is_not_there_is_said_as_python_does() -> None:
    with pytest.raises(AttributeError, match="`cutset` has no attribute `explode`"):
        cutset.explode  # noqa: B018

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.samples.java_samples import built_jar, compiled_sample

Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def jar() -> Path:
    """The agent and the extractor, of the sources as they are."""
    return built_jar()


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """By name of a sample: the folder with its classes, compiled once. Options of javac may follow."""
    return compiled_sample

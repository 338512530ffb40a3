"""Lists of coordinates of jars, `group:artifact:version[:classifier]`: reading them, and other versions of some."""

from collections.abc import Iterable, Sequence
from pathlib import Path


def read_coordinates(path: Path) -> list[str]:
    """One a line, `group:artifact:version[:classifier]`; `#` begins a comment."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def overridden(coordinates: Sequence[str], others: Iterable[str]) -> list[str]:
    """With other versions of the same artifacts; what was not among them comes last."""
    other = {artifact(each): each for each in others}
    return [other.pop(artifact(each), each) for each in coordinates] + list(other.values())


def artifact(coordinate: str) -> tuple[str, ...]:
    """What it is, whatever its version."""
    group, artifact, _, *classifier = coordinate.split(":")
    return (group, artifact, *classifier)

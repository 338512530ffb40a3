"""Which files are ours: what the checks read."""

from collections.abc import Iterator
from pathlib import Path

PRODUCT = ("src", "agent/src")
GENERATED = "_pb2"


def product_files(root: Path) -> Iterator[Path]:
    """Every Python module of the product, its agent and its demo that was written by hand."""
    for folder in PRODUCT:
        for path in sorted((root / folder).rglob("*.py")):
            if GENERATED not in path.name:
                yield path


def python_files(root: Path, *folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((root / folder).rglob("*.py"))

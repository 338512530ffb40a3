"""YAML that cannot keep us busy: a loader that refuses what would take long or grow large, before it does.

A few lines of aliases of aliases stand for more values than there is memory for; a few kilobytes of brackets, for
more levels than Python has. Both are counted while nodes are composed, when an alias still costs nothing.
"""

from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 1_000_000  # of a file
MAX_NODES = 20_000  # that are written out: a second of reading
MAX_DEPTH = 64
MAX_EXPANDED = 2_000_000  # values and characters, each alias counted as what it stands for


class BoundedLoader(yaml.SafeLoader):
    """Raises a YAMLError where the text goes beyond the bounds."""

    def __init__(self, stream: str | bytes) -> None:
        size = len(stream if isinstance(stream, bytes) else stream.encode(errors="replace"))
        if size > MAX_BYTES:
            raise yaml.MarkedYAMLError(problem=f"more than the {MAX_BYTES:,} bytes that are read")
        super().__init__(stream)
        self._nodes = 0
        self._depth = 0
        self._sizes: dict[int, int] = {}  # of finished nodes, by identity: they live as long as this does
        self._kept: list[yaml.Node] = []

    def compose_node(self, parent: Any, index: Any) -> Any:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_NODES:,} values", problem_mark=mark)
        if self._depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_DEPTH} levels", problem_mark=mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if id(node) not in self._sizes and self._finished(node) > MAX_EXPANDED:
            problem = "aliases (`*name`) that stand for more than can be read"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return node

    def _finished(self, node: yaml.Node | None) -> int:
        if isinstance(node, yaml.ScalarNode):
            size = 1 + len(node.value)
        elif isinstance(node, yaml.MappingNode):
            size = 1 + sum(self._sizes.get(id(each), 1) for pair in node.value for each in pair)
        elif isinstance(node, yaml.SequenceNode):
            size = 1 + sum(self._sizes.get(id(each), 1) for each in node.value)
        else:
            return 0
        # Of a node that contains itself, which is refused elsewhere, what is known so far.
        self._sizes[id(node)] = size
        self._kept.append(node)
        return size


def read_bounded(path: Path) -> bytes:
    """A byte more than a loader takes, at most, whatever the file is."""
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)

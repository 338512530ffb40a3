"""The tables of `syntax` while they grow, and what only resolving needs: the variables and definitions of functions."""

from collections import defaultdict
from dataclasses import dataclass, field

from cutset.reproduce.python.syntax import Chain, Class, CodeEvent, Function, Guard, Place, Try, Write


@dataclass(slots=True)
class Tables:
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    events: list[CodeEvent] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    flows: list[tuple[int, Chain, Chain]] = field(default_factory=list)  # in a function: into a name, from another
    # Of each function: what its variables are made from (as `Class.attributes`), and what is defined in it.
    variables: dict[int, dict[str, list[Chain]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    local_functions: dict[int, dict[str, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    local_classes: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

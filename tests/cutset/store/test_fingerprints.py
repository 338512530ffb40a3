"""That fingerprints tell apart what readers read differently; what shapes are is tested in `test_shapes`."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.lineage.call_tree import CallReader
from cutset.model.shape import LOST, ROOT, Shape
from cutset.model.span import SpanKind, SpanLabel
from cutset.store.fingerprints import shapes_of

LABELS = [
    SpanLabel(service, name, kind, error, sidecar=sidecar)
    for service in ("cart", "shop", "")
    for sidecar in ("", "true")
    for kind in SpanKind
    for name, error in (("get", False), ("put", False), ("get", True))
]
LABELS.sort()


@st.composite
def traces(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Label, parent and start of spans: any trees, cycles and lost parents."""
    size = draw(st.integers(1, 7))
    torn, meshed = draw(st.booleans()), draw(st.booleans())
    labels = [number for number, label in enumerate(LABELS) if meshed or not label.sidecar]
    return [
        (
            draw(st.sampled_from(labels)),
            draw(st.sampled_from([ROOT, LOST, *range(size)]) if torn or not at else st.integers(0, at - 1)),
            draw(st.integers(0, 3)),
        )
        for at in range(size)
    ]


def shapes_of_traces(*found: list[tuple[int, int, int]]) -> tuple[Shape, ...]:
    rows = sorted(
        (trace, start, at, label, parent)
        for trace, spans in enumerate(found)
        for at, (label, parent, start) in enumerate(spans)
    )
    ids = [trace * 1000 + at for trace, _, at, _, _ in rows]
    above = [trace * 1000 + (parent if parent >= 0 else 999) for trace, *_, parent in rows]
    columns = {
        "trace": np.array([row[0] for row in rows]),
        "label": np.array([row[3] for row in rows]),
        "id": np.array(ids, dtype=np.uint64),
        "parent_id": np.array(above, dtype=np.uint64),
        "is_root": np.array([row[4] in (ROOT, row[2]) for row in rows]),
        "start_ns": np.array([row[1] + 1 for row in rows]),
        "duration": np.ones(len(rows), dtype=np.int64),
    }
    return shapes_of(columns, LABELS, np.array([f"{number:03}" for number in range(len(found))], dtype=object))


@settings(max_examples=300, deadline=None)
@given(traces(), st.randoms(use_true_random=False))
def test_traces_that_are_alike_are_read_alike(trace: list[tuple[int, int, int]], chance: random.Random) -> None:
    """The same spans at other times: where readers find something else, fingerprints differ."""
    variants = [trace, *([(*of_span, chance.randrange(4)) for *of_span, _ in trace] for _ in range(5))]
    reader = CallReader(LABELS)
    alone = [shapes_of_traces(variant)[0] for variant in variants]
    readings = [reader.read(shape.labels, shape.parents) for shape in alone]
    together = shapes_of_traces(*variants)
    assert sum(shape.traces for shape in together) == len(variants)
    # Of each group one is read for all; how many there are of each reading must come out the same.
    found = sorted(repr(reader.read(shape.labels, shape.parents)) for shape in together for _ in range(shape.traces))
    assert found == sorted(map(repr, readings))

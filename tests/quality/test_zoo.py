"""A small visit to the zoo of `make bench-truth`: faults reach the requests that carry them, and end with them."""

import asyncio

import pytest

pytest.importorskip("pgserver")

from benchmarks.truth.zoo import visited


def test_no_fault_reaches_others_and_none_outlives_its_request() -> None:
    visit = asyncio.run(visited(requests=1_200, dawns=6))
    assert visit.failures == []
    assert visit.outlived == []
    assert sum(visit.fired.values()) > 50
    assert "the request has ended" in visit.refused

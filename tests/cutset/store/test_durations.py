from pathlib import Path

import pytest

from cutset.model.span import Span, SpanKind
from cutset.store.durations import server_durations
from cutset.store.manifest import open_spans
from cutset.store.spans import begin_ingest

MINUTE = 60 * 10**9


def call(
    number: int, seconds: float, *, start: int = MINUTE, kind: SpanKind = SpanKind.SERVER, error: bool = False
) -> Span:
    end = start + int(seconds * 1e9)
    attributes = {"rpc.method": "shop.Cart/GetCart"}
    return Span(f"{number:032x}", f"{number:016x}", "", "cart", "op", kind, start, end, error, attributes)


def test_calls_are_timed_by_what_was_called_as_the_server_saw_them(tmp_path: Path) -> None:
    good = [call(number, (number + 1) / 1000, start=MINUTE * (1 + number // 60)) for number in range(100)]
    others = [call(200, 9.0, kind=SpanKind.CLIENT), call(201, 9.0, error=True)]
    with begin_ingest(tmp_path) as ingest:
        ingest.add("test", [*good, *others])

    (found,) = server_durations(open_spans(tmp_path))

    assert (found.label.service, found.label.rpc_method, found.calls) == ("cart", "shop.Cart/GetCart", 100)
    assert found.seconds == pytest.approx((0.05, 0.099, 0.1, 0.1), abs=0.0011)
    assert found.per_second == 1.0  # sixty in the busiest minute


def test_an_empty_store_has_none(tmp_path: Path) -> None:
    assert server_durations(open_spans(tmp_path)) == []

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.model.exchange import Exchange, Operation
from cutset.workload.recording.lines import exchange_from_line, exchange_to_line

texts = st.text(max_size=20)
pairs = st.lists(st.tuples(texts, texts), max_size=3).map(tuple)
numbers = st.floats(0, 2e9)
operations = st.builds(
    Operation, texts, st.integers(1, 99), numbers, numbers, st.booleans(), st.binary(max_size=9), st.binary(max_size=9)
)
exchanges = st.builds(
    Exchange,
    id=texts,
    service=texts,
    trace_id=texts,
    started_at=numbers,
    seconds=numbers,
    method=texts,
    path=texts,
    request_headers=pairs,
    request_body=st.binary(max_size=50),
    status=st.integers(0, 999),
    response_headers=pairs,
    response_body=st.binary(max_size=50),
    truncated=st.booleans(),
    operations=st.lists(operations, max_size=2).map(tuple),
)


@given(exchanges)
@settings(max_examples=50)
def test_an_exchange_survives_its_line(given_exchange: Exchange) -> None:
    assert exchange_from_line(exchange_to_line(given_exchange)) == given_exchange


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ('"status": 200', '"status": "ok"'),
        ('"path": "/"', '"path": 7'),
        ('"seconds": 0.1', '"seconds": true'),
        ('"request_body": ""', '"request_body": "%%"'),
        ('"request_headers": []', '"request_headers": [["a"]]'),
    ],
)
def test_a_malformed_line_is_refused_with_the_field_and_its_value(change: str, to: str) -> None:
    line = (
        '{"id": "a", "service": "s", "started_at": 1, "seconds": 0.1, "method": "GET", "path": "/", "status": 200, '
        '"request_body": "", "request_headers": [], "later": 1}'
    )
    assert exchange_from_line(line).status == 200
    name = change.split('"')[1]
    with pytest.raises(InputError, match=f"`{name}`: expected"):
        exchange_from_line(line.replace(change, to))


@pytest.mark.parametrize("line", ["{torn", "[]", "7"])
def test_what_is_no_object_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"not JSON|expected an object"):
        exchange_from_line(line)

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutset.traces.files import json_stream
from cutset.traces.files.json_grammar import MALFORMED, TOO_DEEP
from cutset.traces.files.json_stream import NOT_UTF8, TOO_LARGE, TRUNCATED, elements
from cutset.traces.tally import ReadTally

ARRAYS = ("data", "trace.batches")


def read(content, tally=None, arrays=ARRAYS):
    return [element for element, _ in elements(io.BytesIO(content), tally or ReadTally(), arrays)]


def skipped(content):
    tally = ReadTally()
    found = read(content, tally)
    return found, dict(tally.skipped)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b" \n ", []),
        (b"[]", []),
        (b'[{"a": 1}, [2], "x", 3, null]', [{"a": 1}, [2], "x", 3, None]),
        (b'{"data": [1, 2], "total": 0}', [1, 2]),
        (b'{\n  "total": {"data": [9]},\n  "data": [\n    1,\n    2\n  ]\n}\n', [1, 2]),
        (b'{"trace": {"batches": [1]}, "metrics": {}}', [1]),
        (b'{"trace":\n{"batches": [1]}}', [1]),
        (b'{"data": null}', []),
        (b'{"data":\nnull}', []),
        (b'{"other": [1]}', [{"other": [1]}]),
        (b'{"other":\n[1]}', [{"other": [1]}]),
        (b"[[1], [2]]\n[[3]]\n", [[1], [2], [3]]),
        (b'{"data": [1]}\n\n{"data": [2]}\r\n{"data": [3]}', [1, 2, 3]),
        (b'{"data": [1]}{"data": [2]} [3]', [1, 2, 3]),
        (b'{\n"data": [1]}\n{\n"data": [2]}', [1, 2]),
        (b'\xef\xbb\xbf{"data": [1]}', [1]),
    ],
)
def test_elements_are_found_in_every_layout(content, expected):
    assert skipped(content) == (expected, {})


def test_a_place_names_the_array_and_the_line_of_the_document():
    content = b'{"data": [1, 2]}\n{"data": [3]}\n{"other": 1}\n[4'

    assert [place for _, place in elements(io.BytesIO(content), ReadTally(), ARRAYS)] == [
        "data[0]",
        "data[1]",
        "line 2, data[0]",
        "line 3",
        "line 4, [0]",
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"k": 2, "x": 1.1.1}',
        b'{"k": 2, "x": "lost quote}',
        b'{"k": 2, x": "lost quote"}',
        b'{"k": 2, "x": {"lost": "bracket"}',
        b'{"k": 2, "x": ["lost bracket"}',
        b'{"k": 2, "x": ["wrong bracket"}}',
        b'{"k": 2, "x": "line\nbreak"',
        b'{"k": 2 garbage',
        b'{"k": 2,',
        b"garbage",
        b"@",
    ],
)
def test_damage_costs_the_element_that_it_is_in(damaged):
    found, reasons = skipped(b'{"data": [{"k": 1}, ' + damaged + b', {"k": 3}, {"k": 4}], "total": 0}')

    assert found == [{"k": 1}, {"k": 3}, {"k": 4}]
    assert set(reasons) <= {MALFORMED, TRUNCATED}
    assert reasons


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_line_that_was_cut_costs_that_line(cut):
    line = b'{"data":[{"k":1},{"k":"two"},{"k":3}]}'

    found, reasons = skipped(b'{"data":[{"k":0}]}\n' + line[:-cut] + b'\n{"data":[{"k":5}]}\n')

    assert found[0] == {"k": 0}
    assert found[-1] == {"k": 5}
    assert sum(reasons.values()) >= (cut < len(line))


def test_lines_that_are_no_json_are_passed_over():
    assert skipped(b'Exporting...\n{"data": [1]}\nDone.\n{"data": [2]}\n') == ([1, 2], {MALFORMED: 2})


def test_what_other_writers_write_is_read():
    found, reasons = skipped(b'{"data":[{"k":"\\ud800"},{"k":NaN},{"k":"a\tb"},{"k":"\xff"}]}')

    assert found[0] == {"k": "\ud800"}
    assert repr(found[1]) == "{'k': nan}"
    assert found[-1] == {"k": "\ufffd"}
    assert reasons[NOT_UTF8] == 1


def test_a_truncated_file_keeps_its_whole_elements():
    assert skipped(b'{"data":[{"k":1},{"k":2},{"k":') == ([{"k": 1}, {"k": 2}], {TRUNCATED: 1})


def test_an_element_that_is_too_large_is_passed_over(monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_BYTES", 5000)
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 100)
    large = json.dumps([{"k": "x" * 90}] * 100).encode()

    assert skipped(b'{"data":[{"k":1},' + large + b',{"k":2}]}') == ([{"k": 1}, {"k": 2}], {TOO_LARGE: 1})
    assert skipped(b'{"data":[{"k":1},"' + b"x" * 20_000 + b'",{"k":2}]}')[0][0] == {"k": 1}
    assert skipped(b'{"a":' + large + b"}") == ([], {TOO_LARGE: 1})


def test_elements_may_be_nested_deeply_but_not_endlessly():
    deep = b"[" * 500 + b"]" * 500

    found, reasons = skipped(b'{"data":[1,' + deep + b",2]}")

    assert (found[0], len(found), found[2], reasons) == (1, 3, 2, {})
    assert skipped(b"[" * 100_000)[1] == {TOO_DEEP: 1}


@pytest.mark.parametrize(
    "part", [b"[", b"{", b'"', b"\\", b'["', b'{"a":', b"{\n", b',{"a":"', b"[1,{", b'["\\', b"}", b"1"]
)
def test_hostile_repetition_is_read_in_passing(part):
    assert all(element is not None for element in read(part * 20_000))


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-99, 99), st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    ),
    lambda values: st.one_of(
        st.lists(values, max_size=3), st.dictionaries(st.text('ab"\\]}', max_size=3), values, max_size=3)
    ),
    max_leaves=6,
)
ELEMENTS = st.lists(st.dictionaries(st.sampled_from(["k", "name"]), VALUES, min_size=1), min_size=1, max_size=6)


@st.composite
def documents(draw):
    """Documents in some layout: each element with the bytes behind which it is whole."""
    indent = draw(st.sampled_from([None, 2]))
    ascii_only = draw(st.booleans())
    pieces, wholes = [], []
    for listed in draw(st.lists(ELEMENTS, min_size=1, max_size=3)):
        pieces.append(draw(st.sampled_from([b'{"data":[', b"[", b'{"total": 0,\n "data": ['])))
        for number, element in enumerate(listed):
            if number:
                pieces.append(draw(st.sampled_from([b",", b", ", b",\n"])))
            pieces.append(json.dumps(element, indent=indent, ensure_ascii=ascii_only).encode())
            wholes.append((element, sum(map(len, pieces))))
        first = next(piece for piece in reversed(pieces) if piece in (b'{"data":[', b"[", b'{"total": 0,\n "data": ['))
        pieces.append(b"]" if first == b"[" else b"]}")
        pieces.append(draw(st.sampled_from([b"\n", b" ", b""])))
    return b"".join(pieces), wholes


@settings(deadline=None)
@given(documents(), st.integers(1, 200))
def test_elements_are_the_same_whatever_the_size_of_chunks(document, chunk):
    content, wholes = document
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK_BYTES", chunk)
        found, reasons = skipped(content)

    assert found == [element for element, _ in wholes]
    assert not reasons


@settings(deadline=None)
@given(documents(), st.data(), st.sampled_from([50, 1 << 20]))
def test_all_elements_before_the_damage_are_read(document, data, chunk):
    content, wholes = document
    at = data.draw(st.integers(0, len(content)))
    damage = data.draw(st.one_of(st.just(None), st.binary(max_size=5)))
    damaged = content[:at] if damage is None else content[:at] + damage + content[at + len(damage) :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK_BYTES", chunk)
        found = read(damaged)

    before = [element for element, end in wholes if end <= at]
    assert found[: len(before)] == before


@settings(deadline=None)
@given(st.text('{}[]",:\\ \n1ak', max_size=60))
@example('{"data":')
@example('[{"k":1,')
def test_no_text_is_too_broken_to_be_read(text):
    tally = ReadTally()
    read(text.encode(), tally, ("k", "a.k"))

    assert sum(tally.skipped.values()) <= len(text)

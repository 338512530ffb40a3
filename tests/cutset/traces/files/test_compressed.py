import gzip
import io
import zlib

import pytest
import zstandard

from cutset.traces.files.compressed import content_from, inflated, with_head
from cutset.traces.tally import ReadTally

CONTENT = b"".join(b"line %d\n" % number for number in range(20_000))


def read(content):
    tally = ReadTally()
    return inflated(io.BytesIO(content), tally).read(), dict(tally.skipped)


def collector_frames(*contents):
    frames = [zstandard.compress(content) for content in contents]
    return b"".join(len(frame).to_bytes(4) + frame for frame in frames)


@pytest.mark.parametrize(
    "compressed",
    [
        CONTENT,
        gzip.compress(CONTENT),
        gzip.compress(CONTENT[:999]) + gzip.compress(b"") + gzip.compress(CONTENT[999:]),
        gzip.compress(CONTENT) + bytes(5000),
        zstandard.compress(CONTENT),
        zstandard.compress(CONTENT[:999]) + zstandard.compress(CONTENT[999:]),
        collector_frames(CONTENT[:999], CONTENT[999:]),
    ],
)
def test_content_is_the_same_whatever_it_is_compressed_with(compressed):
    assert read(compressed) == (CONTENT, {})


@pytest.mark.parametrize("content", [b"", b"{", b"\x1f", b"\x28\xb5"])
def test_what_is_too_short_to_be_compressed_is_itself(content):
    assert read(content) == (content, {})


@pytest.mark.parametrize(("compress", "name"), [(gzip.compress, "gzip"), (zstandard.compress, "zstd")])
def test_a_truncated_file_gives_what_is_there(compress, name):
    compressed = compress(CONTENT) + compress(CONTENT)

    found, skipped = read(compressed[: len(compressed) * 3 // 4])

    assert len(CONTENT) <= len(found) < 2 * len(CONTENT)
    assert (2 * CONTENT).startswith(found)
    assert skipped == {f"truncated {name}": 1}


@pytest.mark.parametrize(("compress", "name"), [(gzip.compress, "gzip"), (zstandard.compress, "zstd")])
def test_a_corrupt_file_gives_what_comes_before(compress, name):
    found, skipped = read(compress(CONTENT) + compress(b"")[:4] + b"\xff" * 3000)

    assert found == CONTENT
    assert skipped == {f"corrupt {name}": 1}


def test_a_file_that_inflates_to_very_much_is_inflated_in_parts():
    compressor = zlib.compressobj(wbits=31)
    bomb = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(64)) + compressor.flush()
    stream = inflated(io.BytesIO(bomb), ReadTally())

    assert stream.read(1000) == bytes(1000)


def test_the_head_of_a_stream_is_still_in_it():
    head, stream = with_head(io.BytesIO(CONTENT), 100)

    assert head == CONTENT[:100]
    assert stream.read() == CONTENT


@pytest.mark.parametrize(
    "compressed",
    [CONTENT, gzip.compress(CONTENT), zstandard.compress(CONTENT), collector_frames(CONTENT[:70], CONTENT[70:])],
)
@pytest.mark.parametrize("offset", [0, 1, 70, 100_000, len(CONTENT), len(CONTENT) + 1])
def test_content_can_be_had_from_any_byte_on(compressed, offset):
    file = io.BytesIO(compressed)
    file.read(100)

    assert content_from(file, offset, ReadTally()).read() == CONTENT[offset:]

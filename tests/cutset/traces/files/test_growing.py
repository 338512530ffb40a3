import tempfile
from collections import defaultdict
from pathlib import Path

import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.traces.files.growing import MAX_RECORD_BYTES, PIECE_BYTES, GrowingFiles
from cutset.traces.tally import ReadTally


class Reader:
    """Reads what is new, and remembers how far it was."""

    def __init__(self, *sources: Path | str) -> None:
        self.tally = ReadTally()
        self.files = GrowingFiles([str(source) for source in sources], self.tally)
        self.positions: dict[str, int] = defaultdict(int)

    def look(self) -> list[bytes]:
        for gone in self.files.look(self.positions.__getitem__):
            del self.positions[gone]
        found = []
        for piece in self.files.pieces(self.positions.__getitem__):
            self.positions[piece.cursor] = piece.position
            found.append(piece.content)
        return found


def line(number: int) -> bytes:
    return b'{"resourceSpans":[%d]}\n' % number


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content


def test_only_whole_lines_are_read_and_each_once(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    reader = Reader(file)
    assert reader.look() == []  # it may appear later
    file.write_bytes(line(1) + line(2)[:9])
    assert reader.look() == [line(1)]
    assert reader.files.behind == 0  # nothing that could be read
    file.write_bytes(line(1) + line(2) + line(3))
    assert reader.look() == [line(2) + line(3)]
    assert reader.look() == []


def test_messages_with_their_length_are_read_when_they_are_whole(tmp_path: Path) -> None:
    for name, records in {
        "traces.pb": [framed(b"\x0a\x03one"), framed(b"\x0a\x03two")],
        "traces.zst": [framed(zstandard.compress(line(number))) for number in (1, 2)],
    }.items():
        file = tmp_path / name
        file.write_bytes(records[0] + records[1][:-1])
        reader = Reader(file)
        assert reader.look() == [records[0]]
        file.write_bytes(b"".join(records))
        assert reader.look() == [records[1]]


def test_what_a_named_file_was_rotated_into_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    reader = Reader(file)
    for number, name in enumerate(["traces-2026-11-18T09-00-00.000.json", "traces.json.1"]):
        with file.open("ab") as stream:
            stream.write(line(10 * number))
            stream.flush()
            assert reader.look() == [line(10 * number)]
            stream.write(line(10 * number + 1))
        file.rename(tmp_path / name)
        file.write_bytes(line(10 * number + 2))
        assert sorted(reader.look()) == [line(10 * number + 1), line(10 * number + 2)]
        file.unlink()
    assert len(reader.files) == 3
    reader.look()
    assert not reader.tally.skipped
    assert len(reader.files) == len(reader.positions) == 2  # nobody needs the position of what is gone


def test_a_file_that_begins_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    reader = Reader(tmp_path)
    file.write_bytes(line(1) + line(2))
    reader.look()
    with file.open("r+b") as stream:  # as `copytruncate` of logrotate, and a collector that starts again, do
        stream.truncate()
        stream.write(line(3) + line(4) + line(5))
    assert reader.look() == [line(3) + line(4) + line(5)]


def test_what_is_deleted_before_it_was_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    file.write_bytes(line(1))
    reader = Reader(file)
    reader.files.look(reader.positions.__getitem__)
    file.unlink()
    reader.look()
    assert reader.tally.first_at == {"file that was deleted before all of it was read": str(file)}


def test_what_cannot_be_followed_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("traceId,spanId\n")
    reader = Reader(tmp_path / "*.csv")
    assert reader.look() == reader.look() == []
    assert list(reader.tally.skipped.values()) == [1]


def test_a_record_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    with (tmp_path / "traces.json").open("wb") as file:
        file.write(b"{")
        file.truncate(MAX_RECORD_BYTES + 2 * PIECE_BYTES)
        file.seek(0, 2)
        file.write(b"\n" + line(1))
    pieces = Reader(tmp_path).look()
    assert max(map(len, pieces)) <= MAX_RECORD_BYTES + PIECE_BYTES
    assert pieces[-1].endswith(line(1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 60), st.sampled_from(["look", "rotate", "restart"]))))
def test_whatever_a_collector_does_each_line_is_read_once(steps: list[int | str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "traces.json"
        reader, read = Reader(file), list[bytes]()
        pending, written = b"", 0
        for number, step in enumerate([*steps, 1000, "look"]):
            if step == "look":
                read += reader.look()
            elif step == "restart":
                again = Reader(file)
                again.positions |= reader.positions
                reader = again
            elif step == "rotate":
                with file.open("ab") as stream:
                    stream.write(pending)
                pending = b""
                file.rename(file.with_name(f"traces-{number:06}.json"))
            else:
                while len(pending) < int(step):
                    pending += line(written)
                    written += 1
                with file.open("ab") as stream:
                    stream.write(pending[: int(step)])
                pending = pending[int(step) :]
        with file.open("ab") as stream:
            stream.write(pending)
        read += reader.look()
        assert sorted(b"".join(read).splitlines(True)) == sorted(map(line, range(written)))

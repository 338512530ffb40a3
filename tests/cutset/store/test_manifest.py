import json
import subprocess
import sys

import pytest

from cutset.errors import InputError, TargetError
from cutset.store.manifest import SpanStore, locked, open_spans
from cutset.store.spans import begin_ingest

HOLDER = """
import sys
from pathlib import Path
from cutset.store.manifest import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_store_without_an_ingest_is_empty(tmp_path):
    assert open_spans(tmp_path) == SpanStore(tmp_path / "traces")
    assert (open_spans(tmp_path).spans, open_spans(tmp_path).first_ns, open_spans(tmp_path).last_ns) == (0, 0, 0)
    assert not any(tmp_path.iterdir())


def test_a_store_that_begins_with_traces_is_for_its_owner_alone_too(tmp_path):
    with begin_ingest(tmp_path / "store"):
        pass

    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700


def test_cursors_and_the_log_are_kept_from_ingest_to_ingest(tmp_path):
    for number in range(2):
        with begin_ingest(tmp_path) as ingest:
            ingest.set_cursor("http://jaeger", number)
            ingest.set_cursor(f"http://tempo{number}", 7)
            ingest.log(f"file{number}", format="otlp", spans_read=0, skipped={"lines that are no JSON": 3})
    stored = open_spans(tmp_path)
    assert stored.cursors == {"http://jaeger": 1, "http://tempo0": 7, "http://tempo1": 7}
    assert [record.source for record in stored.log] == ["file0", "file1"]


def test_another_format_is_refused_before_anything_is_touched(tmp_path):
    with begin_ingest(tmp_path) as ingest:
        ingest.set_cursor("http://jaeger", 1)
    manifest = tmp_path / "traces" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 3}))
    before = manifest.read_bytes()
    with pytest.raises(InputError, match="have format 3; this Cutset reads format 2"):
        open_spans(tmp_path)
    with pytest.raises(InputError, match="format 3"), begin_ingest(tmp_path):
        pass
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 2}', '{"version": 2, "parts": [{}]}', "7"])
def test_a_damaged_manifest_is_named_with_what_to_do(tmp_path, text):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json` is damaged") as raised:
        open_spans(tmp_path)
    assert "Delete" in raised.value.hint


def test_only_one_process_writes_and_the_other_is_told_which(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(TargetError, match=f"Process {holder.pid} is writing"), locked(tmp_path):
            pass
        holder.kill()
    with locked(tmp_path) as stored:
        assert stored.spans == 0


def test_a_store_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match="file") as raised, locked(tmp_path / "file"):
        pass
    assert "--store" in raised.value.hint

import json

from cutset.reproduce.logs.shipping import unwrapped

LINES = ["12:00:00 INFO up", "", "Traceback (most recent call last):", '  File "a.py", line 3, in f', "OSError: full"]


def test_what_docker_puts_around_lines_goes():
    assert unwrapped([f"api-1  | {line}" for line in LINES]) == LINES
    records = [{"log": f"{line}\n", "stream": "stderr", "time": "2026-11-16T03:00:00.1Z"} for line in LINES]
    assert unwrapped([json.dumps(record, separators=(",", ":")) for record in records]) == LINES


def test_what_container_runtimes_put_before_lines_goes():
    assert unwrapped([f"2026-11-16T03:00:00.123456789Z stdout F {line}" for line in LINES]) == LINES


def test_what_only_looks_like_it_stays():
    mixed = [*LINES, "table-1 | 5"]
    assert unwrapped(mixed) == mixed
    assert unwrapped([]) == []

from pathlib import Path

import pytest
import yaml

from cutset.config.yaml import read_yaml
from cutset.errors import UsageError
from cutset.manifests.bounded_yaml import MAX_BYTES, MAX_DEPTH, BoundedLoader, read_bounded

LAUGHS = "a0: &a0 [lol, lol]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
LONG = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 100)}]\n"
MERGES = "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9))
BOMBS = {
    "aliases of aliases": (LAUGHS, "stand for more than can be read"),
    "a long text many times": (LONG, "stand for more than can be read"),
    "merges of merges": (MERGES, "stand for more than can be read"),
    "brackets": ("a: " + "[" * 100_000, "more than 64 levels"),
    "indentation": ("".join(f"{' ' * n}a:\n" for n in range(1000)), "more than 64 levels"),
    "many values": ("a: [" + "1," * 400_000 + "]", "more than 20,000 values"),
    "a large file": ("a: " + "x" * MAX_BYTES, "more than the 1,000,000 bytes"),
    "a number without end": ("a: " + "9" * 10_000, "a value that cannot be read"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_take_minutes_or_all_memory_is_refused(tmp_path: Path, name: str) -> None:
    text, problem = BOMBS[name]
    (tmp_path / "cutset.yaml").write_text(text)
    with pytest.raises(UsageError, match=problem):
        read_yaml(tmp_path / "cutset.yaml")


def test_aliases_and_depth_that_people_write_are_read() -> None:
    deep = "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)
    text = f"a: &a {{b: [1, 2], c: text}}\nd: [*a, *a]\ne: {{<<: *a, f: 1}}\ng: {deep}\n"
    assert yaml.load(text, BoundedLoader) == yaml.safe_load(text)


def test_no_more_is_read_than_will_be_looked_at(tmp_path: Path) -> None:
    assert len(read_bounded(Path("/dev/zero"))) == MAX_BYTES + 1

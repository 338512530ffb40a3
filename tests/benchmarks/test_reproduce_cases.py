"""What the file of a known failure says."""

from pathlib import Path

from benchmarks.reproduce.cases import read_cases

CASE = """
python = "3.9"
targets = ["shop"]
requirements = ["shop==1.0"]
fixed_requirements = ["shop==1.1"]
[workload]
timeout_s = 30
[ground_truth]
site = "shop.orders::keep::os.replace"
occurrence = 5
exception = "OSError(28, 'No space left on device')"
equivalent = ["shop.orders::keep::os.fsync", "TimeoutError()"]
"""


def test_equivalent_sites_and_exceptions_are_true_as_well(tmp_path: Path) -> None:
    (tmp_path / "shop-1").mkdir()
    (tmp_path / "shop-1" / "case.toml").write_text(CASE)
    (tmp_path / "_common").mkdir()

    (known,) = read_cases(tmp_path)

    assert (known.name, known.python, known.targets, known.timeout_s) == ("shop-1", "3.9", ("shop",), 30)
    assert (known.requirements, known.fixed_requirements) == (("shop==1.0",), ("shop==1.1",))
    assert known.truth.sites == {"shop.orders::keep::os.replace", "shop.orders::keep::os.fsync"}
    assert known.truth.exceptions == {"OSError(28, 'No space left on device')", "TimeoutError()"}

import re

from cutset.store.run_id import new_run_id


def test_runs_are_named_by_their_moment_in_order() -> None:
    names = [new_run_id() for _ in range(100)]
    assert all(re.fullmatch(r"\d{8}-\d{6}-\d{6}", name) for name in names)
    assert names == sorted(names)

import os
from concurrent.futures import ProcessPoolExecutor

import psutil
import pytest

from cutset.errors import TargetError, UsageError
from cutset.survey.workers import open_executor, results_of


@pytest.mark.parametrize("workers", ["0", "-1", "many", "", "dask:/x"])
def test_wrong_numbers_of_workers_are_refused(workers: str) -> None:
    with pytest.raises(UsageError, match="no number of workers"), open_executor(workers):
        pass


def test_an_unreachable_cluster_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.survey.workers.CONNECT_SECONDS", 0.2)
    with pytest.raises(TargetError, match=r"127\.0\.0\.1:9"), open_executor("dask://127.0.0.1:9"):
        pass


def test_workers_end_when_the_work_is_given_up() -> None:
    def give_up() -> None:
        with open_executor("2") as executor:
            assert executor is not None
            executor.submit(os.getpid).result()
            raise KeyboardInterrupt

    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        give_up()
    # The resource tracker of the standard library stays.
    left = [child for child in set(psutil.Process().children()) - before if "spawn_main" in " ".join(child.cmdline())]
    assert left == []


def test_results_that_nobody_wants_any_more_are_not_worked_for() -> None:
    with ProcessPoolExecutor(1) as executor:
        results = results_of(executor, abs, range(-1000, 0))
        next(results)
        results.close()
        assert executor.submit(abs, -7).result(timeout=30) == 7


def test_a_worker_that_dies_is_an_error_for_the_user() -> None:
    with pytest.raises(TargetError, match="A worker died"), open_executor("2") as executor:
        list(results_of(executor, os._exit, [1]))

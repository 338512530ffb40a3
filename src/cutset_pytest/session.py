"""What the tests of one session share: for each configuration a laboratory, which stays open until the end."""

import inspect
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import TypeVar

import pytest

from cutset.app.services import key_for, run_system
from cutset.app.testing import PlaceForTests, open_place
from cutset.config.explore import load_place
from cutset.errors import CutsetError
from cutset.store.ledger import open_for_owner
from cutset_pytest import MARK, config_file, store_folder, wish_of
from cutset_pytest.driver import Driver
from cutset_pytest.exploring import SETTINGS, explore_test
from cutset_pytest.under_test import AsyncUnderTest, BodyRun, UnderTest

Result = TypeVar("Result")


class ExploringSession:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._drivers: dict[Path, Driver] = {}
        self._places: dict[Path, PlaceForTests] = {}
        self._tested: dict[str, UnderTest] = {}  # by test
        self._held = ExitStack()
        self._is_alone = False

    def under_test(self, item: pytest.Item) -> UnderTest:
        """One for each test, whoever asks for it."""
        if item.nodeid not in self._tested:
            file = config_file(self._config, item.get_closest_marker(MARK))
            kind = AsyncUnderTest if inspect.iscoroutinefunction(getattr(item, "obj", None)) else UnderTest
            driver = self._driver(file)
            url = _or_fail(lambda: load_place(file)).target.url.rstrip("/")
            self._tested = {item.nodeid: kind(url, driver.submit, driver.exchange)}  # the last one's is over
        return self._tested[item.nodeid]

    def explore(self, item: pytest.Function, mark: pytest.Mark, body: Callable[[], None]) -> None:
        if strange := set(mark.kwargs) - set(SETTINGS) or mark.args:
            pytest.fail(
                f"the mark `cutset` has no {', '.join(map(str, strange))}; it has {', '.join(SETTINGS)}", pytrace=False
            )
        file, under_test = config_file(self._config, mark), self.under_test(item)

        def run(execution: BodyRun) -> None:
            with under_test.running(execution):
                body()

        name = item.nodeid.removesuffix("@cutset")  # which xdist adds
        tell = item.user_properties.append
        _or_fail(
            lambda: explore_test(
                self._driver(file),
                self._place(file),
                name,
                run,
                mark=mark.kwargs,
                wish=wish_of(self._config),
                tell=lambda key, value: tell((key, value)),
            )
        )

    @contextmanager
    def system(self) -> Generator[None]:
        file = config_file(self._config, None)
        with ExitStack() as running:
            self._hold()
            key = running.enter_context(key_for(os.environ))
            _or_fail(lambda: running.enter_context(run_system(load_place(file), key)))
            yield

    def close(self) -> None:
        for driver in self._drivers.values():
            driver.close()
        self._held.close()

    def _driver(self, file: Path) -> Driver:
        if file not in self._drivers:
            self._drivers[file] = Driver()
        return self._drivers[file]

    def _place(self, file: Path) -> PlaceForTests:
        if file not in self._places:
            self._hold()
            self._places[file] = open_place(file, store_folder(self._config))
        return self._places[file]

    def _hold(self) -> None:
        """Of several workers only one has the collector's ports, until its session ends."""
        if "PYTEST_XDIST_WORKER" in os.environ and not self._is_alone:
            self._is_alone = True
            folder = store_folder(self._config)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            flock(self._held.enter_context(open_for_owner(folder / "pytest.lock")), LOCK_EX)


def _or_fail(work: Callable[[], Result]) -> Result:
    """What is wrong with the configuration or the place is said as `cutset` says it."""
    try:
        return work()
    except CutsetError as error:
        pytest.fail(f"{error.message}\n  hint: {error.hint}" if error.hint else error.message, pytrace=False)

"""One Chromium for all tests, and three dashboards: of the real demo, of a hostile store, of nothing."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from playwright.sync_api import Browser, expect
from tests.samples.dashboard_in_browser import (
    BROWSER_VARIABLE,
    Dashboard,
    Looking,
    installed_browser,
    looking,
    opened_browser,
    running_dashboard,
)
from tests.samples.hostile_store import fill_harmless_store, fill_hostile_store

from cutset.app.demo import Boutique, run_boutique
from cutset.model.run import Loop
from cutset.store.follow import followed_ledger

KEY = "a key for tests that nobody guesses"
PATIENCE = 240_000  # milliseconds, for what a busy machine does: a hardening that looks for new cuts, at the longest
REQUESTS = ("-r", "GET /cart", "-r", "POST /cart/checkout")
Result = TypeVar("Result")


class Look(Protocol):
    def __call__(self, dashboard: Dashboard, **options: Any) -> Looking: ...


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    executable = installed_browser()
    if not executable:
        pytest.skip(f"there is no Chromium: install it, or name one by {BROWSER_VARIABLE}")
    expect.set_options(timeout=PATIENCE)
    with opened_browser(executable) as browser:
        yield browser


@pytest.fixture
def look(chromium: Browser) -> Iterator[Look]:
    """Opens windows on dashboards. When the test has passed, none of their pages may have done what no page may do."""
    looks: list[Looking] = []
    with ExitStack() as stack:

        def opened(dashboard: Dashboard, **options: Any) -> Looking:
            looks.append(stack.enter_context(looking(chromium, dashboard, **options)))
            return looks[-1]

        yield opened
        assert [misdeed for each in looks for misdeed in each.misdeeds()] == []


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """In a thread of its own: Playwright has an event loop in ours, beside which no other may run."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *arguments).result()


@dataclass(frozen=True, slots=True)
class Demo:
    """The shop behind its mesh, what was explored of it, and the dashboard that can explore more."""

    boutique: Boutique
    dashboard: Dashboard
    campaign: str  # the id of what was explored before any test
    baseline: Path  # where findings are accepted


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Demo]:
    """Starts once for all tests: after the browser, so that nothing is started where there is none."""
    folder = tmp_path_factory.mktemp("demo")
    store, baseline = folder / ".cutset", folder / "baseline.yaml"
    apart(fill_harmless_store, store)
    with run_boutique(1, KEY.encode(), store) as boutique:
        explored("-c", str(boutique.config_file), "--store", str(store), "--max-size", "2", *REQUESTS)
        with followed_ledger(store) as ledger:
            (campaign,) = ledger.runs(Loop.CAMPAIGN)
        options = ("-c", str(boutique.config_file), "--baseline", str(baseline))
        with running_dashboard(store, *options, key=KEY) as dashboard:
            yield Demo(boutique, dashboard, campaign.id, baseline)


def explored(*arguments: str) -> None:
    """By the command, as people do it. Exits 1: there are findings."""
    command = [sys.executable, "-m", "cutset", "explore", *arguments]
    environment = os.environ | {"CUTSET_KEY": KEY}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1, done.stderr


@pytest.fixture(scope="session")
def demo_dashboard(demo: Demo) -> Dashboard:
    return demo.dashboard


@pytest.fixture(scope="session")
def empty_dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    with running_dashboard(tmp_path_factory.mktemp("empty") / ".cutset") as dashboard:
        yield dashboard


@pytest.fixture(scope="session")
def hostile_dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    store = tmp_path_factory.mktemp("hostile") / ".cutset"
    apart(fill_hostile_store, store)
    with running_dashboard(store) as dashboard:
        yield dashboard

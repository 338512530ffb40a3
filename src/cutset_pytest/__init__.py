"""The pytest plugin: a test with the mark `cutset` is repeated, inside one test, once for each experiment.

    @pytest.mark.cutset(max_size=2)
    def test_homepage(cutset):
        answer = cutset.get("/homepage")
        assert answer.status_code == 200 or cutset.fired

It is loaded whenever pytest starts, so that it loads nothing of Cutset before a test needs it.
Guide: docs/how-to/pytest.md.
"""

import functools
import inspect
import json
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cutset_pytest.exploring import Wish
    from cutset_pytest.session import ExploringSession
    from cutset_pytest.under_test import UnderTest

MARK = "cutset"
GROUP = "cutset"  # of xdist: all such tests in one worker, since there is one collector
_INCOMPLETE = ("fail", "xfail", "skip")
_BUDGET = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>s|m|h)?")
_MINUTES = {"s": 1 / 60, "m": 1.0, "h": 60.0}

_session = pytest.StashKey["ExploringSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cutset", "cutset: minimal sets of failures that break a test")
    group.addoption("--cutset", action="store_true", help="Explore tests with the mark `cutset`; else they run once.")
    group.addoption("--cutset-replay", metavar="ID", default="", help="Run one finding again, and no other test.")
    group.addoption("--cutset-config", metavar="FILE", help="The configuration; by default ./cutset.yaml.")
    group.addoption("--cutset-store", metavar="FOLDER", help="Where all is recorded; by default .cutset.")
    group.addoption(
        "--cutset-budget", metavar="N|TIME", default="", help="Of each test: experiments (`50`), or time (`90s`, `5m`)."
    )
    group.addoption("--cutset-against", metavar="FILE", help="Accepted findings, as `cutset baseline` writes them.")
    parser.addini("cutset_config", "The configuration of the mark `cutset`.", default="cutset.yaml")
    parser.addini("cutset_store", "The folder in which all is recorded.", default=".cutset")
    parser.addini("cutset_against", "The file of accepted findings.", default="")
    parser.addini(
        "cutset_incomplete", "What a test is that could not be explored in full: fail, xfail or skip.", default="fail"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "cutset(max_size, effects, certificates, max_seconds, config): with --cutset, repeat the body once for each "
        "experiment, and fail with the minimal sets of failures that break it",
    )
    if config.getini("cutset_incomplete") not in _INCOMPLETE:
        raise pytest.UsageError(f"cutset_incomplete: expected one of {', '.join(_INCOMPLETE)}")
    _budget(config)
    if is_exploring(config) and getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadgroup"


def is_exploring(config: pytest.Config) -> bool:
    return bool(config.getoption("cutset") or config.getoption("cutset_replay"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_exploring(config):
        return
    wanted = _replayed(config)
    kept = [item for item in items if not wanted or item.nodeid == wanted]
    if wanted and not kept:
        raise pytest.UsageError(f"the finding is of `{wanted}`, which was not collected")
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
    for item in items:
        if item.get_closest_marker(MARK) and config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(GROUP))


@pytest.fixture
def cutset(request: pytest.FixtureRequest) -> "UnderTest":
    """The system under test: sends requests, and says of which experiment they are part."""
    return _session_of(request.config).under_test(request.node)


@pytest.fixture(scope="session")
def cutset_mesh(pytestconfig: pytest.Config) -> Generator[None]:
    """Runs the mesh of the configuration, and the services that it says how to start, until the session ends."""
    with _session_of(pytestconfig).system():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Whatever a plugin does to run a coroutine is part of each execution of the body."""
    mark = item.get_closest_marker(MARK)
    if mark is None or not is_exploring(item.config):
        return (yield)
    unittest = sys.modules.get("unittest")  # loading it would take as long as loading this file
    if not isinstance(item, pytest.Function) or (unittest and issubclass(item.cls or object, unittest.TestCase)):
        pytest.fail("the mark `cutset` is for test functions and methods of plain classes", pytrace=False)
    session, body, run_once = _session_of(item.config), item.obj, item.runtest
    # The body's own task is where it is said what its clients carry: some plugins give it a context of its own.
    item.obj = _carrying(body, session.under_test(item))
    item.runtest = functools.partial(session.explore, item, mark, run_once)  # type: ignore[method-assign]
    try:
        return (yield)
    finally:
        item.obj = body
        del item.runtest


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [each for kind in terminalreporter.stats.values() for each in kind if hasattr(each, "user_properties")]
    found = {properties["cutset"] for report in reports if "cutset" in (properties := dict(report.user_properties))}
    if not found:
        return
    from cutset_pytest.exploring import told  # noqa: PLC0415 -- only where there is something to tell

    terminalreporter.section("cutset")
    for explored in sorted(map(json.loads, found), key=lambda each: str(each["test"])):
        terminalreporter.write_line(f"{explored['test']}  [{explored['campaign']}]", bold=True)
        for line in told(explored):
            terminalreporter.write_line(f"  {line}", red=line.startswith("x fails"))
    terminalreporter.write_line("Accept what may stay: cutset baseline CAMPAIGN --merge; more: cutset report CAMPAIGN")


def pytest_unconfigure(config: pytest.Config) -> None:
    if (session := config.stash.get(_session, None)) is not None:
        session.close()


def wish_of(config: pytest.Config) -> "Wish":
    from cutset_pytest.exploring import Wish  # noqa: PLC0415 -- loads Cutset

    against = config.getoption("cutset_against") or config.getini("cutset_against")
    return Wish(
        replay=str(config.getoption("cutset_replay")),
        baseline=config.rootpath / str(against) if against else None,
        incomplete=str(config.getini("cutset_incomplete")),
        **_budget(config),
    )


def _budget(config: pytest.Config) -> dict[str, Any]:
    text = str(config.getoption("cutset_budget"))
    match = _BUDGET.fullmatch(text)
    if text and match is None:
        raise pytest.UsageError(f"--cutset-budget: expected experiments (`50`) or a time (`90s`, `5m`), found `{text}`")
    if match is None:
        return {}
    number = float(match["number"])
    return {"minutes": number * _MINUTES[match["unit"]]} if match["unit"] else {"experiments": int(number)}


def config_file(config: pytest.Config, mark: pytest.Mark | None) -> Path:
    """What the mark says wins, then the command line, then the ini file; relative to pytest's root."""
    said = (mark.kwargs.get("config") if mark else None) or config.getoption("cutset_config")
    return config.rootpath / str(said or config.getini("cutset_config"))


def store_folder(config: pytest.Config) -> Path:
    return config.rootpath / str(config.getoption("cutset_store") or config.getini("cutset_store"))


def _replayed(config: pytest.Config) -> str:
    """The test of the finding that is to be tried again."""
    if not (finding := config.getoption("cutset_replay")):
        return ""
    from cutset.app.testing import recorded_finding  # noqa: PLC0415 -- loads Cutset
    from cutset.errors import CutsetError  # noqa: PLC0415

    try:
        return recorded_finding(store_folder(config), finding).request
    except CutsetError as error:
        raise pytest.UsageError(f"{error.message}. {error.hint or ''}") from error


def _session_of(config: pytest.Config) -> "ExploringSession":
    if _session not in config.stash:
        from cutset_pytest.session import ExploringSession  # noqa: PLC0415 -- loads Cutset

        config.stash[_session] = ExploringSession(config)
    return config.stash[_session]


def _carrying(body: Any, under_test: "UnderTest") -> Any:
    if inspect.iscoroutinefunction(body):

        @functools.wraps(body)
        async def carrying(*args: Any, **kwargs: Any) -> Any:
            with under_test.carrying():
                return await body(*args, **kwargs)

    else:

        @functools.wraps(body)
        def carrying(*args: Any, **kwargs: Any) -> Any:
            with under_test.carrying():
                return body(*args, **kwargs)

    return carrying

"""A nightly run of a test suite: pytest, module by module, each measured to a data file of its own; then the files are combined to one report."""
import logging
import sqlite3
import sys
from pathlib import Path

import coverage
import pytest
import wl

MODULES = ("orders", "prices", "stock", "carts", "mails", "users", "taxes", "dates")
SOURCE = """
def total(items):
    if not items:
        return 0
    return sum(price * count for price, count in items)


def {name}(items, limit={limit}):
    found = [item for item in items if item[0] <= limit]
    if len(found) > 3:
        return "many"
    return f"{name}: {{total(found)}}"
"""
TEST = """
import pytest
from shop.{name} import {name}, total


@pytest.mark.parametrize("count", range(4))
def test_total(count):
    assert total([(2, count)] * count) == 2 * count * count


def test_{name}():
    assert {name}([(1, 2), (99, 1)]) == "{name}: 2"
"""


def measure(name: str) -> int:
    measured = coverage.Coverage(data_file=f".coverage.test_{name}", source=["shop"], messages=True)
    measured.start()
    try:
        return pytest.main(["-q", "-p", "no:cacheprovider", f"tests/test_{name}.py"])
    finally:
        measured.stop()
        try:
            measured.save()
        except (coverage.CoverageException, sqlite3.Error):
            log.warning("the coverage of test_%s is not saved", name, exc_info=True)
        sys.modules.pop(f"shop.{name}", None)


def report() -> float | None:
    for attempt in range(1, 3):
        try:
            combined = coverage.Coverage(source=["shop"], messages=True)
            combined.combine()
            combined.save()
            return combined.report(show_missing=True)
        except Exception:
            log.exception("no coverage report, attempt %d", attempt)
    return None


logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s")
log = logging.getLogger("nightly")
for folder in ("shop", "tests"):
    Path(folder).mkdir()
Path("shop/__init__.py").touch()
for number, name in enumerate(MODULES):
    Path(f"shop/{name}.py").write_text(SOURCE.format(name=name, limit=10 + number))
    Path(f"tests/test_{name}.py").write_text(TEST.format(name=name))
sys.path.insert(0, ".")
codes = {}
for name in MODULES:
    log.info("test_%s", name)
    codes[name] = int(measure(name))
percent = report()
log.info("%d modules passed, coverage %s", sum(code == 0 for code in codes.values()), percent)
wl.report(modules=len(MODULES), passed=sum(code == 0 for code in codes.values()), percent=percent)
wl.finish()

"""The browser of this machine; who measures without one would have made the numbers up."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser
from tests.samples.dashboard_in_browser import BROWSER_VARIABLE, installed_browser, opened_browser


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = installed_browser()
    if not executable:
        sys.exit(f"there is no Chromium to measure with: install it, or name one by {BROWSER_VARIABLE}")
    with opened_browser(executable) as browser:
        yield browser

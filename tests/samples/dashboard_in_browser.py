"""The dashboard as people have it: `cutset ui` as a process, and a real Chromium that looks at it.

What a page must never do is noted while one looks: ask another host, log an error, open a dialog, run a script that
came with the data. Chromium is the one of the machine; Playwright only drives it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    ViewportSize,
    sync_playwright,
)
from playwright.sync_api import Request as BrowserRequest

BROWSER_VARIABLE = "CUTSET_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: tests may run as root. The rest keeps it from talking to its maker, and from needing what CI has not.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def installed_browser() -> str:
    """Empty: there is none."""
    named = os.environ.get(BROWSER_VARIABLE, "")
    return named or next(filter(None, map(shutil.which, NAMES)), "")


@contextmanager
def opened_browser(executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One that runs."""

    link: str  # with its token, if it has one
    store: Path
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.link))

    def at(self, address: str) -> str:
        return f"{self.origin}{address}"


@contextmanager
def running_dashboard(store: Path, *arguments: str, key: str = "", cwd: Path | None = None) -> Iterator[Dashboard]:
    """`cutset ui` as a process of its own."""
    command = [sys.executable, "-m", "cutset", "ui", "--port", "0", "--store", str(store), *arguments]
    environment = os.environ | {"CUTSET_KEY": key, "NO_COLOR": "1"}
    with subprocess.Popen(
        command, cwd=cwd or store.parent, env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stderr
        said = []
        try:
            for line in process.stderr:
                said.append(line)
                if found := re.match(r"Dashboard +(http://\S+)", line):
                    yield Dashboard(found[1], store, process)
                    return
            raise AssertionError("".join(said))
        finally:
            process.terminate()
            process.communicate(timeout=60)


@dataclass(slots=True)
class Looking:
    """A browser's window on a dashboard, and what its pages did that no page may do."""

    page: Page
    dashboard: Dashboard
    forbidden: list[str] = field(default_factory=list)  # what the dashboard's policy kept pages from
    elsewhere: list[str] = field(default_factory=list)  # requests to other hosts
    errors: list[str] = field(default_factory=list)  # of the console, and exceptions of scripts
    dialogs: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # answers of the dashboard with a status from 400 on

    def open(self, address: str) -> Page:
        self.page.goto(self.dashboard.at(address))
        return self.page

    def pwned(self) -> bool:
        """Whether a script of the data ran, in the page or in a frame of it."""
        self.page.wait_for_load_state()
        return any(frame.evaluate("'__pwned' in window") for frame in self.page.frames)

    def misdeeds(self) -> list[str]:
        pwned = ["a script of the data ran"] if self.pwned() else []
        return [*pwned, *self.forbidden, *self.elsewhere, *self.errors, *self.dialogs, *self.refused]


@contextmanager
def looking(browser: Browser, dashboard: Dashboard, first: str = "/", **options: Any) -> Iterator[Looking]:
    """A browser of its own, admitted already, at this first page; `options` are those of Playwright's contexts."""
    context = browser.new_context(**({"viewport": WIDE} | options))
    try:
        page = context.new_page()
        look = Looking(page, dashboard)
        _watch(context, look)
        separator = "&" if "?" in first else "?"
        page.goto(dashboard.at(f"{first}{separator}{urlsplit(dashboard.link).query}"))
        yield look
    finally:
        context.close()


def _watch(context: BrowserContext, look: Looking) -> None:
    def asked(request: BrowserRequest) -> None:
        if not request.url.startswith((f"{look.dashboard.origin}/", "data:", "about:")):
            look.elsewhere.append(f"asked for {request.url[:200]}")

    def failed(request: BrowserRequest) -> None:
        asked_for = f"asked for {request.url[:200]}"
        if request.failure == "csp" and asked_for in look.elsewhere:  # it never left the browser
            look.elsewhere.remove(asked_for)

    def said(message: ConsoleMessage) -> None:
        # A frame in which an answer is shown says of each script and picture of it that it has none: that is its task.
        # What our policy forbids in a page itself is noted by `forbidden`.
        expected = any(each in message.text for each in ("Content Security Policy directive", "frame is sandboxed"))
        if message.type in ("error", "warning") and not expected:
            look.errors.append(f"{message.type} at {look.page.url}: {message.text[:300]}")

    def opened(dialog: Dialog) -> None:
        look.dialogs.append(f"a dialog: {dialog.message[:100]}")
        dialog.dismiss()

    context.expose_binding("__forbidden", lambda _, what: look.forbidden.append(f"forbidden: {what}"))
    context.add_init_script(
        "addEventListener('securitypolicyviolation', e => __forbidden(`${e.violatedDirective} ${e.blockedURI}`))"
    )
    context.on("request", asked)
    context.on("requestfailed", failed)
    context.on("console", said)
    context.on("weberror", lambda error: look.errors.append(f"exception at {look.page.url}: {error.error}"))
    context.on("dialog", opened)
    context.on(
        "response",
        lambda answer: look.refused.append(f"{answer.status} for {answer.url[:200]}") if answer.status >= 400 else None,
    )


def sideways(page: Page) -> int:
    """By how many pixels the page as a whole can be scrolled to the side."""
    return int(page.evaluate(SIDEWAYS))


def violations(page: Page) -> list[str]:
    """Of accessibility, as axe-core sees it, each with where it is."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}" for each in found for node in each["nodes"]
    ]


_KINDS = (
    partial(re.compile(r"/findings/[^/?]+").sub, "/findings/{id}"),
    partial(re.compile(r"^/(campaigns|hardenings|drills|impacts|reproductions)/[^/?]+").sub, r"/\1/{run}"),
    partial(re.compile(r"\?.*").sub, ""),
)


def kind_of(address: str) -> str:
    """Which page it is: `/campaigns/{run}`."""
    for shortened in _KINDS:
        address = shortened(address)
    return address


@dataclass(frozen=True, slots=True)
class Crawled:
    pages: dict[str, list[str]]  # addresses that answered, by what kind of page they are
    broken: list[str]


MOST_EXPANDED = 3  # pages of a kind that are looked at for further links
MOST_FETCHED = 20  # of a kind


def crawled(dashboard: Dashboard) -> Crawled:
    """All that links lead to, from the first page on."""
    pages: dict[str, list[str]] = {}
    broken: list[str] = []
    with httpx.Client(base_url=dashboard.origin, follow_redirects=True, timeout=60) as client:
        client.get(dashboard.link)
        waiting, known = ["/"], {"/"}
        while waiting:
            address = waiting.pop(0)
            answers = pages.setdefault(kind_of(address), [])
            if len(answers) >= MOST_FETCHED:
                continue
            answer = client.get(address)
            if answer.status_code != 200:
                broken.append(f"{answer.status_code} {address}")
                continue
            answers.append(address)
            if len(answers) <= MOST_EXPANDED and "html" in answer.headers["content-type"]:
                linked = [each for each in _addresses(answer.text) if each not in known]
                known.update(linked)
                waiting += linked
    return Crawled({kind: answers for kind, answers in pages.items() if answers}, broken)


def _addresses(page: str) -> list[str]:
    """On this dashboard, in their order; files of ours are no pages."""
    found = (unescape(each).partition("#")[0] for each in re.findall(r'<a\b[^>]*\shref="(/[^"]*)"', page))
    return list(dict.fromkeys(each for each in found if not each.startswith("/static/")))

"""Takes the pictures of the dashboard in `docs/images`, of the real demo: `make screenshots`.

The demo explores its shop and opens the dashboard; then a browser looks at it. Nothing is made up: what a picture shows
is what was found a moment before.
"""

import re
import signal
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from cutset.app.report import list_campaigns, read_campaign
from cutset.model.fault import format_cut

IMAGES = Path(__file__).parent / "images"
CHROMIUM = "/usr/bin/chromium"
# It would otherwise ask its makers for news; no sandbox, since CI runs as root.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SIZE: ViewportSize = {"width": 1280, "height": 800}
QUALITY = 90  # letters stay sharp
MOST_BYTES = 150_000
LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
EXPLORED = "The shop"  # a line that begins so says that all campaigns have ended
ENDS_WITHIN_S = 60  # that services and stores take to stop

ColourScheme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    path: str  # of the page
    scheme: ColourScheme = "light"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder)) as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for picture in pictures(Path(folder) / ".cutset"):
            take(browser, link, picture)


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """Where it has its store; the link to its dashboard."""
    command = [sys.executable, "-m", "cutset", "demo", "--ui"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said, link = [], ""
            for line in process.stderr:
                said.append(line)
                if line.startswith("Dashboard") and (found := LINK.search(line)):
                    link = found[0]
                if link and line.startswith(EXPLORED):
                    yield link
                    break
            else:
                sys.exit("The demo ended without a dashboard:\n" + "".join(said[-10:]))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(ENDS_WITHIN_S)


def pictures(store: Path) -> list[Picture]:
    """Of the campaign with the largest cut, which is that of the checkout."""
    campaigns = [read_campaign(store, run.id) for run in list_campaigns(store)]
    size, campaign, finding = max(
        ((len(each.cut), campaign, each) for campaign in campaigns for each in campaign.findings),
        key=lambda found: found[0],
    )
    run, cut = campaign.id, finding.cut
    almost = sorted(cut)[: size - 1]
    chosen = {"campaign": run, "request": finding.request}
    return [
        Picture("overview", "/"),
        Picture("overview-dark", "/", "dark"),
        Picture("campaign", f"/campaigns/{run}"),
        Picture("finding", f"/campaigns/{run}/findings/{finding.id}"),
        Picture("graph", "/graph?" + urlencode(chosen | {"cut": format_cut(frozenset(almost))})),
        Picture("harden", "/harden?" + urlencode({"campaign": run, "budget": 3})),
    ]


def take(browser: Browser, link: str, picture: Picture) -> None:
    with browser.new_context(viewport=SIZE, color_scheme=picture.scheme, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(link)  # from now on the cookie does
        _look(page, link.partition("/?")[0] + picture.path)
        # Playwright itself knows no WebP, which has a third of the bytes of PNG.
        taken = context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    content = b64decode(taken["data"])
    if len(content) > MOST_BYTES:
        sys.exit(f"The picture of {picture.path} has {len(content):,} bytes, more than {MOST_BYTES:,}")
    (IMAGES / f"{picture.name}.webp").write_bytes(content)


def _look(page: Page, address: str) -> None:
    answer = page.goto(address, wait_until="load")  # a page that follows a run is never idle
    if answer is None or not answer.ok:
        sys.exit(f"{address} was answered {answer.status if answer else 'by nothing'}")
    page.wait_for_timeout(500)  # pictures are laid out by then


if __name__ == "__main__":
    main()

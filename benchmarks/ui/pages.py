"""Can everybody read every page, and does any page do what no page may do? All that links lead to, of a store in which
every text is an attack: each in both themes, wide and narrow, by axe-core, with an ear on the console.

    python -m benchmarks.ui.pages [--quick]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.truth.topic import run_alone
from benchmarks.ui.chromium import chromium
from tests.samples.dashboard_in_browser import (
    NARROW,
    THEMES,
    WIDE,
    crawled,
    looking,
    running_dashboard,
    sideways,
    violations,
)
from tests.samples.hostile_store import fill_hostile_store

OF_A_KIND, QUICK_OF_A_KIND = 5, 1  # pages that differ only in what they are about


def measure(*, quick: bool) -> dict[str, object]:
    found: dict[str, list[str]] = {"axe": [], "errors": [], "executed": [], "elsewhere": [], "sideways": []}
    with tempfile.TemporaryDirectory(prefix="cutset-pages-") as name:
        store = Path(name, ".cutset")
        texts = fill_hostile_store(store)
        with chromium() as browser, running_dashboard(store) as dashboard:
            crawl = crawled(dashboard)
            most = QUICK_OF_A_KIND if quick else OF_A_KIND
            addresses = [address for answers in crawl.pages.values() for address in answers[:most]]
            for address in addresses:
                with looking(browser, dashboard) as look:
                    page = look.open(address)
                    for theme in THEMES:
                        page.emulate_media(color_scheme=theme)
                        found["axe"] += [f"{address} {theme}: {each}" for each in violations(page)]
                    for size in (NARROW, WIDE):
                        page.set_viewport_size(size)
                        found["sideways"] += [f"{address} {size['width']}"] if sideways(page) > 0 else []
                    found["executed"] += [*(look.dialogs), *([address] if look.pwned() else [])]
                    found["errors"] += [*look.errors, *look.forbidden]
                    found["elsewhere"] += look.elsewhere
    for kind, each in ((kind, each) for kind, every in found.items() for each in every):
        print(f"{kind}: {each[:300]}", file=sys.stderr)
    return {
        "pages": len(addresses),
        "kinds_of_pages": len(crawl.pages),
        "links_broken": len(crawl.broken),
        "browser_tests": _browser_tests(),
        "console_errors": len(found["errors"]),
        "axe_violations": len(found["axe"]),
        "sideways": len(found["sideways"]),
        "hostile_inputs": texts,
        "scripts_executed": len(found["executed"]),
        "requests_elsewhere": len(found["elsewhere"]),
    }


def _browser_tests() -> int:
    folder = Path(__file__).parents[2] / "tests" / "browser"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(folder)]
    listed = subprocess.run(command, cwd=folder.parents[1], capture_output=True, text=True, check=True).stdout
    return sum("::" in line for line in listed.splitlines())


if __name__ == "__main__":
    run_alone(measure, __doc__)

"""How large is the report that travels, of the whole demo, and does it ask anybody for anything when it is opened?

python -m benchmarks.ui.reports [--quick]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.truth.topic import run_alone
from benchmarks.ui.chromium import chromium

QUICK = ("-r", "GET /cart", "--max-size", "1")


def measure(*, quick: bool) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="cutset-reports-") as name:
        folder = Path(name)
        _cutset(folder, "demo", *(QUICK if quick else ()))
        _cutset(folder, "report", "--html", "report.html", "--markdown", "report.md")
        report = folder / "report.html"
        asked: list[str] = []
        with chromium() as browser:
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.goto(report.as_uri())
            scripts = page.locator("script").count()
        elsewhere = [each for each in asked if not each.startswith((report.as_uri(), "data:", "about:"))]
        return {
            "report_kb": round(report.stat().st_size / 1024),
            "report_markdown_kb": round((folder / "report.md").stat().st_size / 1024, 1),
            "report_requests": len(elsewhere),
            "report_scripts": scripts,
        }


def _cutset(folder: Path, *arguments: str) -> None:
    """Exits 1 where there are findings."""
    done = subprocess.run(
        [sys.executable, "-m", "cutset", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr)


if __name__ == "__main__":
    run_alone(measure, __doc__)

"""Does the documentation build without a warning, do all its links lead somewhere, and does the reference of commands
say what the commands say?

    python -m benchmarks.ui.docs [--quick]
"""

import os
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.truth.topic import run_alone
from docs.command_reference import PAGE, command_reference

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r'<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="?([^"\s>]+)')
_ANCHOR = re.compile(r'\s(?:id|name)="?([^"\s>]+)')


def measure(*, quick: bool) -> dict[str, object]:  # noqa: ARG001 -- it is quick
    with tempfile.TemporaryDirectory(prefix="cutset-docs-") as name:
        site = Path(name)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
        environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
        broken = [f"{page.relative_to(site)}: {link}" for page in pages for link in broken_links(page, site)]
    warnings = [line for line in built.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]
    for each in (*warnings, *broken):
        print(each, file=sys.stderr)
    return {
        "docs_pages": len(pages),
        "docs_warnings": len(warnings) or built.returncode,
        "broken_links": len(broken),
        "cli_reference_current": command_reference() == PAGE.read_text(encoding="utf-8"),
    }


def broken_links(page: Path, site: Path) -> list[str]:
    """Within the site; what is elsewhere is not asked: nothing here needs a network."""
    found = []
    for link in {unescape(each) for each in _LINK.findall(page.read_text(encoding="utf-8"))}:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        path = unquote(parts.path)
        target = (site / path.lstrip("/") if path.startswith("/") else page.parent / path).resolve() if path else page
        target = target / "index.html" if target.is_dir() else target
        if not target.exists() or (parts.fragment and target.suffix == ".html" and not _has(target, parts.fragment)):
            found.append(link)
    return found


def _has(page: Path, fragment: str) -> bool:
    return unquote(fragment) in {unescape(each) for each in _ANCHOR.findall(page.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    run_alone(measure, __doc__)

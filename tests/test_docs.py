"""What README and docs say is there: pages, pictures, headings, and the configuration for one's own services."""

import re
from pathlib import Path

import pytest

from cutset.config.explore import load_config, load_mesh

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`((?:src|agent|tests|docs|benchmarks|examples|checks)/[\w./-]+|[\w/-]+/[\w-]+\.(?:py|lua|md))`")
# What a reproduction leaves for its user, and files that stand for any.
NOT_OURS = {"replay/replay.py", "replay/test_reproduction.py", "src/cutset/x/y.py", "tests/cutset/x/test_y.py"}
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if link.startswith("http"):
            continue
        file, _, heading = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not heading or heading in _anchors(target), link


def test_every_page_is_linked_from_the_readme_or_from_a_page_that_is() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r"\]\(([^)#\s]+\.md)\)", page.read_text())
            waiting += [(page.parent / link).resolve() for link in links if not link.startswith("http")]
    assert set(PAGES) <= reached


def test_the_configuration_in_the_readme_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "cutset.yaml").write_text(text)

    assert [request.name for request in load_config(tmp_path / "cutset.yaml").requests] == ["GET /"]
    assert [service.name for service in load_mesh(tmp_path / "cutset.yaml").services] == ["web", "cart"]


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path) -> None:
    roots = (ROOT, ROOT / "src", ROOT / "src" / "cutset", ROOT / "agent" / "src")
    for name in set(NAMED.findall(page.read_text())) - NOT_OURS:
        assert any((root / name).exists() for root in roots), name

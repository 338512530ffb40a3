"""What README and docs say is there, and what is there they say: commands, settings, exit codes, effects, records."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib.util import find_spec
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from docs.command_reference import command_reference

from cutset.config.drill import _Section as DrillSection
from cutset.config.explore import _ConfigSection, load_config, load_mesh
from cutset.config.harden import HardenChoice
from cutset.errors import CutsetError
from cutset.model.effect import EffectKind
from cutset.store.codec import RECORDED

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
WIRE = ROOT / "agent" / "src" / "cutset_agent" / "WIRE.md"
NAMED = re.compile(r"`((?:src|agent|tests|docs|benchmarks|examples|checks)/[\w./-]+|[\w/-]+/[\w-]+\.(?:py|lua|md))`")
# What a reproduction leaves for its user, and files that stand for any.
NOT_OURS = {
    *("replay/replay.py", "replay/test_reproduction.py", "src/cutset/x/y.py", "tests/cutset/x/test_y.py"),
    *("tests/cutset/search/test_NAME.py", "report/SUBJECT/page.py"),
}
PAGES = [*ROOT.glob("*.md"), WIRE, *DOCS.rglob("*.md")]
of_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def reference(name: str) -> str:
    return (DOCS / "reference" / name).read_text()


@of_each_page
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", _without_code(page.read_text()))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        file, _, heading = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not heading or heading in _anchors(target), link


@of_each_page
def test_files_that_are_named_are_there(page: Path) -> None:
    product = ROOT / "src" / "cutset"
    roots = (ROOT, ROOT / "src", ROOT / "agent" / "src", ROOT / "examples/reproduce", product, *product.iterdir())
    for name in set(NAMED.findall(page.read_text())) - NOT_OURS:
        assert any((root / name).exists() for root in roots), name


@of_each_page
def test_lists_and_tables_are_understood_by_all_who_read_markdown(page: Path) -> None:
    """GitHub sees one wherever it begins, the site only after an empty line."""
    begins = re.compile(r"\n(?![ \t]*(?:[-*+] |\d+\. |\||#|\n))(?! ).+\n(?:[-*+] |\d+\. |\|).*")
    inside_of_items = re.compile(r"^(?:[-*+]|\d+\.) .*(?:\n.+)*", re.MULTILINE)
    text = inside_of_items.sub("", _without_code(page.read_text()))
    assert begins.findall(text) == []


def test_every_page_is_linked_from_the_readme_or_from_a_page_that_is() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", page.read_text())
            waiting += [(page.parent / link).resolve() for link in links if not link.startswith("http")]
    assert set(PAGES) <= reached


def test_the_readme_stays_short_and_so_does_the_architecture() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 80


def test_the_configuration_in_the_readme_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "cutset.yaml").write_text(text)

    assert [request.name for request in load_config(tmp_path / "cutset.yaml").requests] == ["GET /"]
    assert [service.name for service in load_mesh(tmp_path / "cutset.yaml").services] == ["web", "cart"]


def test_the_reference_of_commands_is_what_the_commands_say() -> None:
    assert reference("commands.md") == command_reference(), "write it again: python docs/command_reference.py"


def test_every_key_of_the_configuration_has_its_entry_and_no_entry_is_of_none() -> None:
    sections = ((_ConfigSection, ""), (DrillSection, "drill"), (HardenChoice, "harden"))
    keys = {key for section, at in sections for key in _keys(section, at)} - {"drill", "harden"}  # have their own
    known = {entry.removesuffix(".NAME") for entry in _entries(reference("configuration.md"))}
    all_below = tuple(entry.removesuffix("…") for entry in known if entry.endswith("…"))

    assert sorted(key for key in keys - known if not key.startswith(all_below)) == []
    assert sorted(entry for entry in known - keys if re.match(r"\w+[.\[]", entry) and not entry.endswith("…")) == []


def test_every_exit_code_of_an_error_has_its_entry() -> None:
    kinds = {CutsetError, *CutsetError.__subclasses__()}
    assert {str(kind.exit_code) for kind in kinds} <= set(re.findall(r"^\| (\d+) \|", reference("exit-codes.md"), re.M))


def test_every_effect_has_its_entry() -> None:
    named = " ".join(_entries(reference("configuration.md")))
    assert [kind.value for kind in EffectKind if kind.value not in named] == []


def test_every_recorded_event_has_its_entry() -> None:
    assert set(RECORDED) <= set(_entries(reference("records.md")))


def test_every_environment_variable_that_the_code_names_has_its_entry() -> None:
    files = [path for folder in ("src", "agent/src") for path in (ROOT / folder).rglob("*.py")]
    texts = (node.value for path in files for node in ast.walk(ast.parse(path.read_text())) if _is_text(node))
    named = {text for text in texts if re.fullmatch(r"CUTSET_[A-Z_]+", text)}
    assert named <= set(_entries(reference("environment.md")))


def test_pictures_of_the_dashboard_are_as_wide_as_a_page_and_small() -> None:
    for picture in (DOCS / "images").glob("*.webp"):
        content = picture.read_bytes()
        assert content[12:16] == b"VP8X", picture  # as Chromium writes it: with the width, less one, in its header
        assert int.from_bytes(content[24:27], "little") + 1 == 1280, picture
        assert len(content) <= 150_000, picture


def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install mkdocs-material")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config as load_site

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    build(load_site(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path)))

    for page in tmp_path.rglob("*.html"):
        assert (
            re.findall(r"<(?:script|img|link(?! rel=\"canonical\"))[^>]* (?:src|href)=\"https?:", page.read_text())
            == []
        )


def _without_code(text: str) -> str:
    return re.sub(r"^( *)(```|~~~).*?^\1\2", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings, and the site does."""
    headings = re.findall(r"^#+ (.+)$", _without_code(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _entries(page: str) -> Iterator[str]:
    """What is in backticks in the first column of its tables; `.name` goes with what comes before."""
    last = ""
    for cell in re.findall(r"^\| ([^|]*`[^|]*) \|", page, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", cell):
            last = last.rpartition(".")[0] + name if re.match(r"\.\w", name) else name
            yield last


def _keys(kind: Any, at: str) -> Iterator[str]:
    """All that may be written, as `requests[].name` and `mesh.services.NAME.port`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        for name, of_field in get_type_hints(kind).items():
            path = f"{at}.{name}".lstrip(".")
            yield from list(_keys(of_field, path)) or [path]
    elif origin is tuple:
        yield from _keys(arguments[0], f"{at}[]")
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from _keys(arguments[1], f"{at}.NAME")
    else:
        for each in arguments:
            yield from () if each is NoneType else _keys(each, at)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

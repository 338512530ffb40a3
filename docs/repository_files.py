"""A hook of MkDocs: files of the repository that pages link to are pages of the site, too.

So one link does in both places: `../../examples/cutset.yaml` is a file to who reads the repository, and a page to who
reads the site, where nothing needs the network. What such a page links to comes along.
"""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = "docs"
OUTSIDE = "repository"  # where these pages are on the site
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json", "Dockerfile": "docker"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    waiting = [_in_repository(file.src_uri) for file in files.documentation_pages()]
    while waiting:
        for place in _outside_of_docs(waiting.pop()):
            if not files.get_file_from_path(_on_site(place)):
                files.append(_file_for(place, config))
                waiting.append(place)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 -- MkDocs names them
    here, folder = _in_repository(page.file.src_uri), PurePosixPath(page.file.src_uri).parent

    def as_on_site(link: re.Match[str]) -> str:
        place = _target(here, link[1])
        return os.path.relpath(_on_site(place), folder) if (ROOT / place).exists() else link[1]

    return LINK.sub(as_on_site, markdown)


def _outside_of_docs(page: PurePosixPath) -> list[PurePosixPath]:
    """What it links to; a folder has its files."""
    if (ROOT / page).is_dir():
        return _listed(page)
    if page.suffix != ".md":
        return []
    places = (_target(page, link) for link in LINK.findall((ROOT / page).read_text()))
    return [place for place in places if place.parts[0] != DOCS and (ROOT / place).exists()]


def _listed(folder: PurePosixPath) -> list[PurePosixPath]:
    return [folder / each.name for each in sorted((ROOT / folder).iterdir()) if each.name[0] not in "._"]


def _file_for(place: PurePosixPath, config: MkDocsConfig) -> File:
    source = ROOT / place
    if place.suffix == ".md":
        content = source.read_text()
    elif source.is_dir():
        content = f"# `{place}`\n\n" + "".join(
            f"- [`{each.name}`]({place.name}/{each.name})\n" for each in _listed(place)
        )
    else:
        language = LANGUAGES.get(place.suffix or place.name, "text")
        content = f"# `{place}`\n\n~~~~~{language}\n{source.read_text()}\n~~~~~\n"
    return File.generated(config, _on_site(place), content=content, inclusion=InclusionLevel.NOT_IN_NAV)


def _target(page: PurePosixPath, link: str) -> PurePosixPath:
    return PurePosixPath(os.path.normpath(page.parent / link))


def _on_site(place: PurePosixPath) -> str:
    if place.parts[0] == DOCS:
        return str(place.relative_to(DOCS))
    return f"{OUTSIDE}/{place}" if place.suffix == ".md" else f"{OUTSIDE}/{place}.md"


def _in_repository(uri: str) -> PurePosixPath:
    if not uri.startswith(f"{OUTSIDE}/"):
        return PurePosixPath(DOCS, uri)
    place = PurePosixPath(uri).relative_to(OUTSIDE)
    return place if (ROOT / place).exists() else place.with_suffix("")

"""Parts of `make bench-ui` that can be wrong by themselves."""

from pathlib import Path

from benchmarks.ui.docs import broken_links


def test_a_link_is_broken_if_its_page_picture_or_heading_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "index.html").write_text('<h1 id="begin">x</h1> <h2 id=next>y</h2>')
    page = tmp_path / "part" / "page.html"
    links = ["../index.html", "../index.html#begin", "../index.html#next", "../", "https://elsewhere.example", "#here"]
    page.write_text('<p id="here">' + "".join(f'<a href="{link}">x</a>' for link in links))
    assert broken_links(page, tmp_path) == []

    page.write_text('<img alt="" src="../gone.webp"><a class="x" href="../index.html#gone">x</a><a href=no.html>x</a>')
    assert sorted(broken_links(page, tmp_path)) == ["../gone.webp", "../index.html#gone", "no.html"]

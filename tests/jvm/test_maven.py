"""`jvm/maven.py`, which fetches jars by their coordinates."""

from pathlib import Path

import pytest
from jvm.maven import NoSuchJarError, jars, path_of

from jvm import maven

SHOP = "org.acme:shop:1.2"
WORKS = """
for item in re.findall("<artifactItem>(.*?)</artifactItem>", Path("pom.xml").read_text()):
    told = dict(re.findall("<(.*?)>(.*?)</", item))
    names = [told[key] for key in ("artifactId", "version", "classifier") if key in told]
    path = Path(told["outputDirectory"], "-".join(names) + ".jar")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(item)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(maven, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return tmp_path / "cache"


def a_maven(tmp_path: Path, does: str) -> None:
    mvn = tmp_path / "bin" / "mvn"
    mvn.parent.mkdir(exist_ok=True)
    mvn.write_text(f"#!/usr/bin/env python3\nimport re, sys\nfrom pathlib import Path\n{does}")
    mvn.chmod(0o755)


def test_a_coordinate_is_a_path_in_mavens_layout() -> None:
    assert path_of(SHOP) == "org/acme/shop/1.2/shop-1.2.jar"
    assert path_of(f"{SHOP}:tests") == "org/acme/shop/1.2/shop-1.2-tests.jar"


@pytest.mark.parametrize("text", ["shop-1.2", "org.acme:shop", "org.acme::1.2", "a:b:c:d:e"])
def test_what_is_no_coordinate_is_named(text: str) -> None:
    with pytest.raises(NoSuchJarError, match=rf"`{text}` is not `group:artifact:version"):
        jars([text])


def test_what_is_not_there_is_fetched_in_one_run_and_kept(tmp_path: Path, cache: Path) -> None:
    a_maven(tmp_path, WORKS)
    fetched = jars([f"{SHOP}:tests", SHOP, "org.acme:shop:1.3"])
    a_maven(tmp_path, "sys.exit('it is asked again')")
    assert jars([SHOP, "org.acme:shop:1.3", f"{SHOP}:tests"]) == [fetched[1], fetched[2], fetched[0]]
    assert fetched[0] == cache / "org/acme/shop/1.2/shop-1.2-tests.jar"
    assert "<classifier>tests<" in fetched[0].read_text()
    assert "<version>1.3<" in fetched[2].read_text()


def test_what_maven_says_is_said_and_nothing_is_kept(tmp_path: Path, cache: Path) -> None:
    said = (
        "[ERROR] Failed to execute goal copy (default-cli) on project jars: Unable to find it. -> [Help 1]\\n[ERROR] "
    )
    a_maven(tmp_path, f"print('{said}')\nsys.exit(1)")
    with pytest.raises(NoSuchJarError, match=r"^Maven: Unable to find it\.$"):
        jars([SHOP])
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_without_maven_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSuchJarError, match=r"there is no `mvn` to fetch org\.acme:shop:1\.2 with; install Maven"):
        jars([SHOP])

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.samples.extracted_programs import case_of, extracted_classes, log_apis

from cutset.errors import InputError
from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.jar import find_java
from cutset.reproduce.jvm.locate import code_around, locate
from cutset.reproduce.jvm.tables import read_tables

Compile = Callable[[str, Mapping[str, str]], Path]

STORE = """
package shop;
import java.io.*;
class Store {
    private final DataOutputStream out;
    private int saved;
    Store(DataOutputStream out) { this.out = out; }
    void save(int key, String value) throws IOException {
        if (value == null) throw new IOException("nothing to save for " + key);
        out.writeInt(key);
        out.writeUTF("value");
        out.writeUTF(value);
        saved++;
        out.flush();
    }
    Runnable later() { return () -> { try { out.close(); } catch (IOException e) { saved = -1; } }; }
}
"""


@pytest.fixture(name="compile_java")
def fixture_compile(tmp_path: Path, jar: Path) -> Compile:
    def compile_java(version: str, sources: Mapping[str, str]) -> Path:
        javac = shutil.which("javac")
        if javac is None:
            pytest.skip("there is no javac to compile Java programs with")
        folder = tmp_path / version
        files = []
        for name, text in sources.items():
            files.append(folder / "source" / f"{name}.java")
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            files[-1].write_text(text)
        subprocess.run([javac, "-g", "-d", str(folder / "classes"), *map(str, files)], check=True)
        return folder / "classes"

    return compile_java


def sites_of(classes: Path) -> list[Site]:
    return read_tables(extract(case_of(["shop"], [classes]))).sites


def located(before: Path, after: Path, expression: str) -> list[str]:
    """Of one site of the version before, the places in the one after."""
    java = find_java()
    sites = [site for site in sites_of(before) if str(site).endswith(f"::{expression}")]
    around = code_around(sites, ["shop"], [str(before)], java)
    assert all(around.values())
    places = locate(around, ["shop"], [str(after)], java).places
    return [str(place) for site in sites for place in places[site]]


def test_in_the_same_version_every_site_is_where_it_was(jar: Path):
    """What the tables call sites, `SiteFinder` finds by name: the agent does so, too."""
    classes = extracted_classes()
    class_path = [str(classes), str(log_apis())]
    sites = read_tables(extract(case_of(["extracted"], [classes, log_apis()]))).sites
    around = code_around(sites, ["extracted"], class_path, find_java())
    found = locate(around, ["extracted"], class_path, find_java())
    assert found.places == {site: [site] for site in sites}
    assert "extracted/Copies.java" in found.analysed


def test_calls_added_before_it_do_not_lead_astray(compile_java: Compile):
    before = compile_java("1", {"Store": STORE})
    after = compile_java(
        "2", {"Store": STORE.replace("out.writeInt(key);", 'out.writeUTF("key");\n out.writeInt(key);')}
    )
    assert located(before, after, "DataOutputStream.writeUTF#1") == ["shop.Store::save::DataOutputStream.writeUTF#2"]


def test_an_overload_of_its_function_changes_its_name_alone(compile_java: Compile):
    before = compile_java("1", {"Store": STORE})
    after = compile_java("2", {"Store": STORE.replace("Runnable later", "void save(int key) {}\n Runnable later")})
    assert located(before, after, "throw IOException") == ["shop.Store::save(int,String)::throw IOException"]


def test_a_lambda_may_have_another_number(compile_java: Compile):
    before = compile_java("1", {"Store": STORE})
    after = compile_java("2", {"Store": STORE.replace("return () ->", "Runnable no = () -> {}; return () ->")})
    assert located(before, after, "DataOutputStream.close") == ["shop.Store::lambda$later$1::DataOutputStream.close"]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        (("void save(", "void keep("), ["shop.Store::keep::DataOutputStream.flush"]),
        (("Store", "Depot"), ["shop.Depot::save::DataOutputStream.flush"]),
    ],
)
def test_its_function_or_class_may_have_another_name(compile_java: Compile, changed: Sequence[str], found: list[str]):
    old, new = changed
    before = compile_java("1", {"Store": STORE})
    text = STORE.replace(old, new)
    after = compile_java("2", {"Depot" if new == "Depot" else "Store": text})
    assert located(before, after, "DataOutputStream.flush") == found


def test_a_place_that_is_only_called_the_same_is_none(compile_java: Compile):
    before = compile_java("1", {"Store": STORE})
    other = """
    package shop;
    import java.io.*;
    class Audit { void end(DataOutputStream out) throws IOException { System.gc(); out.flush(); } }
    """
    gone = STORE.replace("out.flush();", "")
    assert located(before, compile_java("2", {"Store": gone, "Audit": other}), "DataOutputStream.flush") == []


def test_a_jar_that_gave_way_to_another_is_looked_for_by_its_packages(compile_java: Compile, tmp_path: Path):
    before, after = compile_java("1", {"Store": STORE}), compile_java("2", {"Store": STORE.replace("saved++;", "")})
    [site] = [site for site in sites_of(before) if site.expression == "DataOutputStream.flush"]
    around = code_around([site], [str(before)], [], find_java())
    places = locate(around, [str(before)], [str(after)], find_java()).places
    assert [place.line for place in places[site]] == [site.line]
    assert locate(around, [str(before)], [str(tmp_path / "nothing")], find_java()).places == {site: []}


def test_of_a_site_without_its_code_only_the_very_same_will_do(compile_java: Compile):
    classes = compile_java("1", {"Store": STORE})
    there = Site("shop.Store", "save", "DataOutputStream.writeUTF", 1, SiteKind.CALL, "shop/Store.java", 1, 0, 1, 0)
    gone = Site("shop.Store", "save", "DataOutputStream.writeUTF", 2, SiteKind.CALL, "shop/Store.java", 1, 0, 1, 0)
    places = locate({there: (), gone: ()}, ["shop"], [str(classes)], find_java()).places
    assert [len(places[there]), len(places[gone])] == [1, 0]


def test_a_java_that_does_not_work_is_told(tmp_path: Path, jar: Path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    java.chmod(0o755)
    with pytest.raises(InputError, match="broken"):
        locate({}, ["shop"], [str(tmp_path)], str(java))

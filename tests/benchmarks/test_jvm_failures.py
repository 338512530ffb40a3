"""What the file of a known failure of a JVM program says, and what is said of many."""

from pathlib import Path

import pytest
from benchmarks.jvm.__main__ import beside_the_paper
from benchmarks.jvm.failures import CASES, JavaFailure, failure_log, parse_site, read_case, read_cases

from cutset.model.reproduction.site import SiteKind
from cutset.reproduce.oracle.expression import Check

CASE = """
java = "17"
java_options = ["-Xmx64m"]
sources = ["org.acme.shop"]
paper = {name = "f1", rounds = 5}
[workload]
arguments = ["3"]
timeout_s = 20
oracle = "ORACLE"
[ground_truth]
site = "org.acme.shop.Orders::keep::FileChannel.force"
occurrence = 2
exception = 'java.io.IOException("No space left on device")'
equivalent = ["org.acme.shop.Orders::keep::FileChannel.write#1", 'java.io.FileNotFoundException("")']
"""


def a_case(folder: Path, text: str = CASE, oracle: str = "exit:1") -> JavaFailure:
    (folder / "case.toml").write_text(text.replace("ORACLE", oracle))
    (folder / "jars.txt").write_text("org.acme:shop:1\n")
    return read_case(folder)


def test_equivalent_sites_and_exceptions_are_true_as_well(tmp_path: Path) -> None:
    known = a_case(tmp_path)

    assert (known.main, known.arguments, known.timeout_s, known.paper_rounds) == ("Workload", ("3",), 20, 5)
    assert (known.has_fix, known.jars, known.oracle) == (False, ("org.acme:shop:1",), Check("exit", "1"))
    assert known.truth.sites == {
        "org.acme.shop.Orders::keep::FileChannel.force",
        "org.acme.shop.Orders::keep::FileChannel.write#1",
    }
    assert len(known.truth.exceptions) == 2


def test_an_oracle_may_be_a_function_in_a_file_of_the_case(tmp_path: Path) -> None:
    assert a_case(tmp_path, oracle="oracle.py").oracle == Check("python", f"{tmp_path}/oracle.py::holds")


def test_a_published_failure_log_that_is_not_there_leaves_the_case_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = a_case(tmp_path, f"{CASE}\n[failure_log]\npublished = 'nobody-has-it'\n")
    assert not known.can_run()
    assert "skipped, as" in capsys.readouterr().out
    assert failure_log(known) == ""


@pytest.mark.parametrize(
    ("effect", "exception", "same"),
    [
        ('java.io.IOException("full")', "java.io.IOException()", True),
        ("java.io.IOException()", "java.io.FileNotFoundException()", False),
        ("hang()", "hang()", True),
    ],
)
def test_exceptions_are_compared_by_their_binary_names(
    tmp_path: Path, effect: str, exception: str, *, same: bool
) -> None:
    # Nothing of the case is asked.
    assert a_case(tmp_path).same_class(None, effect, exception) is same  # type: ignore[arg-type]


def test_a_site_is_read_as_it_is_written() -> None:
    text = "org.acme.shop.Orders$Kept::keep(Order,long)::throw IOException#2"
    site = parse_site(text)
    assert (str(site), site.function, site.ordinal, site.kind) == (text, "keep(Order,long)", 2, SiteKind.RAISE)
    assert parse_site("a.B::<init>::FileInputStream.<init>").kind is SiteKind.CALL


@pytest.mark.parametrize("part", ["seen", "unseen"])
def test_every_case_can_be_read_and_has_sites_that_are_sites(part: str) -> None:
    for known in read_cases(CASES / part):
        faults = [known.told[key] for key in ("ground_truth", "wrong_occurrence", "wrong_site") if key in known.told]
        for site in {*known.truth.sites, *(fault["site"] for fault in faults if "site" in fault)}:
            assert str(parse_site(site)) == site, known.name


def test_our_rounds_stand_beside_the_papers_for_the_same_failures() -> None:
    results = {
        "f1": {"reproduced": True, "rounds": 4},
        "f3": {"reproduced": False, "rounds": 90},
        "f4": {"reproduced": True, "rounds": 8},
        "other": {"reproduced": True, "rounds": 1},
    }
    told = beside_the_paper({"f1": 5, "f3": 10, "f4": 13, "f17": 7}, results)
    assert (told["paper_cases"], told["median_rounds"], told["paper_median_rounds"]) == (3, 6, 9)


def test_without_a_reproduction_there_is_no_median() -> None:
    told = beside_the_paper({"f1": 5}, {})
    assert (told["paper_cases"], told["median_rounds"], told["paper_median_rounds"]) == (0, None, None)

"""Every harness, the same promises: one suite for all languages."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.samples.java_samples import SAMPLES, built_jar, compiled_sample, java_site
from tests.samples.small_programs import read_app
from tests.samples.toy_language import ToyFrontEnd, toy_case

from cutset.model.reproduction.site import Site, SiteFault
from cutset.reproduce.jvm.harness import JvmHarness
from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.rounds.harness import ArmedRound, Harness, Workload
from cutset.reproduce.rounds.runner import RoundRecord, run_round

APP = "import os\n\ndef work():\n    for _ in range(5):\n        os.getpgid(0)\n"
Laboratory = Callable[[Path], tuple[Harness, Workload, Site, str]]


def python(folder: Path) -> tuple[Harness, Workload, Site, str]:
    program = read_app(folder, APP, driver="import app\napp.work()\n")
    return PythonHarness(), Workload((sys.executable, str(folder / "drive.py")), 20), program.sites[0], "OSError(5)"


def toy(folder: Path) -> tuple[Harness, Workload, Site, str]:
    case = toy_case(folder, program="store | cannot store |\n")
    front_end = ToyFrontEnd()
    return front_end, case.workload, front_end.read_program(case).sites[0], "fail()"


def jvm(folder: Path) -> tuple[Harness, Workload, Site, str]:
    built_jar()
    command = ("java", "-Xmx64m", "-cp", str(compiled_sample("store")), "store.Store", "write")
    source = (SAMPLES / "store/store/Store.java").read_text().splitlines()
    site = java_site("store.Store::put::OutputStream.write", line=1 + source.index("        out.write(k);"))
    return JvmHarness(), Workload(command, 20), site, 'java.io.IOException("full")'


every = pytest.mark.parametrize("laboratory", [python, toy, jvm])


def a_round(laboratory: Laboratory, folder: Path, *occurrences: int, ground: tuple[int, ...] = ()) -> RoundRecord:
    harness, workload, site, effect = laboratory(folder)
    window, first = (tuple(SiteFault(0, one, effect) for one in chosen) for chosen in (occurrences, ground))
    return asyncio.run(run_round(workload, ArmedRound([(0, site)], window, first), folder / "round", harness))


@every
def test_without_a_fault_visits_are_recorded_in_order(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path)
    assert record.succeeded
    assert (record.fired, record.fired_ground, record.problems) == (None, (), ())
    assert [(visit.site, visit.occurrence) for visit in record.visits] == [(0, number) for number in range(1, 6)]
    assert [visit.log_lines for visit in record.visits] == sorted(visit.log_lines for visit in record.visits)


@every
def test_the_first_fault_of_a_window_that_occurs_fires_and_no_other(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path, 4, 2)
    assert record.fired is not None
    assert record.fired.fault.occurrence == 2
    assert record.fired.stack


@every
def test_any_occurrence_is_the_first_that_comes(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path, 0)
    assert record.fired is not None
    assert record.fired.fault.occurrence == 1


@every
def test_what_does_not_occur_does_not_fire(tmp_path: Path, laboratory: Laboratory):
    assert a_round(laboratory, tmp_path, 99).fired is None


@every
def test_faults_of_the_ground_fire_as_well(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path, 99, ground=(3,))
    assert record.fired is None
    assert [firing.fault.occurrence for firing in record.fired_ground] == [3]


@every
def test_contexts_if_they_are_told_begin_with_the_function_of_the_site_and_count(
    tmp_path: Path, laboratory: Laboratory
):
    record = a_round(laboratory, tmp_path)
    site = laboratory(tmp_path)[2]
    told = [visit for visit in record.visits if visit.within]
    assert [visit.nth for visit in told] == list(range(1, len(told) + 1))
    file, function = Path(site.path), site.function
    assert {visit.within.split(" < ")[0] for visit in told} <= {f"{file.name}:{function}", f"{file.stem}.{function}"}


@every
def test_functions_that_ran_if_they_are_told_are_of_analysed_files(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path)
    harness, _, site, _ = laboratory(tmp_path)
    assert set(harness.executed(record.folder)) <= {site.path}
    assert harness.executed(tmp_path / "gone") == {}


@every
def test_the_folder_of_a_round_tells_its_visits_later(tmp_path: Path, laboratory: Laboratory):
    record = a_round(laboratory, tmp_path)
    harness = laboratory(tmp_path)[0]
    assert harness.visits(record.folder, record.logs) == record.visits
    assert harness.visit_counts(record.folder) == {0: 5}


@every
def test_a_site_that_is_still_there_is_located(tmp_path: Path, laboratory: Laboratory):
    harness, workload, site, _ = laboratory(tmp_path)
    sources = [site.module.partition(".")[0]]
    assert [place.line for place in harness.locate({site: ()}, sources, workload, None).places[site]] == [site.line]

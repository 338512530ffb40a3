import asyncio
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.samples.java_samples import java_site

from cutset.errors import UsageError
from cutset.model.reproduction.site import Site, SiteFault
from cutset.reproduce.jvm.harness import JvmHarness, agent_plan
from cutset.reproduce.jvm.record import read_visits
from cutset.reproduce.rounds.harness import ArmedRound, Harness, Workload
from cutset.reproduce.rounds.runner import RoundRecord, run_round

HARNESS: Harness = JvmHarness()
STORE = [
    java_site("store.Store::put::OutputStream.write"),
    java_site("store.Store::check::throw IOException", raised=True),
    java_site("store.Store::size::File.length"),
    java_site("store.Store::isOpen::File.exists"),
    java_site("store.Store::owner::File.getName"),
    java_site("store.Store::lambda$waitForAnother$2::Semaphore.tryAcquire"),
    java_site("store.Store::main::Thread.run"),
]
PUT, CLOSED, LENGTH, EXISTS, NAME, ACQUIRE, CALL_BACK = range(7)
IN_MAIN = "Store.put < Store.write < Store.main < @main"
FULL = 'java.io.IOException("No space left on device")'
Run = Callable[..., RoundRecord]


@pytest.fixture
def run(jar: Path, compiled: Callable[..., Path], tmp_path: Path) -> Run:
    """One round of the sample `store`, told by the first word what to do."""

    def run_store(
        word: str,
        *window: SiteFault,
        ground: tuple[SiteFault, ...] = (),
        visits: bool = True,
        cache: Path | None = None,
    ) -> RoundRecord:
        workload = Workload(("java", "-Xmx64m", "-cp", str(compiled("store")), "store.Store", word), 20)
        plan = ArmedRound(tuple(enumerate(STORE)), window, ground, records_visits=visits, cache=cache)
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return asyncio.run(run_round(workload, plan, folder, HARNESS))

    return run_store


def said(record: RoundRecord) -> list[str]:
    lines = "".join(path.read_text() for path in record.logs).splitlines()
    return [line for line in lines if not line.startswith("Picked up")]


def test_a_plan_has_what_the_agent_has_to_know(tmp_path: Path):
    plan = ArmedRound(
        [(7, STORE[CLOSED])], (SiteFault(7, 2, FULL, IN_MAIN),), (SiteFault(7, 1, "hang()"),), log=tmp_path / "run.log"
    )
    assert agent_plan(plan, tmp_path / "out") == {
        "format": 1,
        "sites": [[7, "store.Store", "check", "throw IOException", 0, 1]],
        "window": [[7, 2, FULL, IN_MAIN]],
        "ground": [[7, 1, "hang()", ""]],
        "visits": True,
        "functions": True,
        "analysed": ["store/Store.java"],
        "log": str(tmp_path / "run.log"),
        "cache": None,
        "out": str(tmp_path / "out"),
    }


def test_the_agent_comes_after_options_that_are_there_already(jar: Path, tmp_path: Path):
    folder = tmp_path / "a round"
    env = HARNESS.arm(ArmedRound(), folder, {"JAVA_TOOL_OPTIONS": "-Xmx1g", "OTHER": "1"})
    assert env["JAVA_TOOL_OPTIONS"] == f'-Xmx1g "-javaagent:{jar}={folder / "plan.json"}"'
    assert env["OTHER"] == "1"
    assert subprocess.run(["java", "-version"], env=env, capture_output=True, check=True).returncode == 0


def test_contexts_are_functions_nearest_first_and_the_family_of_the_thread(run: Run):
    visits = [visit for visit in run("contexts").visits if visit.site == PUT]
    first = "Store.put < Store.write < Store.first"
    second = "Store.put < Store.write < Store.recursive < Store.second"
    assert [(visit.within, visit.nth) for visit in visits] == [
        (f"{first} < Store.contexts < Store.main < @main", 1),
        (f"{second} < Store.contexts < Store.main < @main", 1),
        (f"{first} < Store.contexts < Store.main < @main", 2),
        (f"{second} < Store.contexts.lambda < @pool-*-thread-*", 1),
        (f"{first} < @writer:3", 1),
    ]
    assert visits[3].thread == "pool-1-thread-1"
    assert [visit.log_lines for visit in visits] == [1, 2, 3, 4, 5]


def test_an_exception_looks_as_if_the_call_had_thrown_it(run: Run):
    record = run("write", SiteFault(PUT, 2, FULL))
    assert record.fired is not None
    assert (record.fired.within, record.fired.nth, record.fired.thread) == (IN_MAIN, 2, "main")
    assert [frame.split(" in ")[1] for frame in record.fired.stack] == ["Store.main", "Store.write", "Store.put"]
    lines = said(record)
    at = lines.index("java.io.IOException: No space left on device")
    assert lines[at - 1] == "cannot put 1: java.io.IOException: No space left on device"
    assert lines[at + 1].startswith("\tat store.Store.put(Store.java:")
    assert lines[-1] == "done"


def test_the_stack_goes_on_below_a_call_that_may_give_back_a_value(run: Run):
    record = run("callback", SiteFault(PUT, 1, FULL), ground=(SiteFault(CALL_BACK, 2, "return(null)"),))
    assert record.fired is not None
    assert record.fired.within == "Store.put < Store.write < Store.main.lambda < Store.main < @main"
    assert "\tat store.Store.main(Store.java:" in said(record)[-2]


def test_occurrences_within_a_context_are_those_that_count(run: Run):
    record = run("contexts", SiteFault(PUT, 1, FULL, "Store.put < Store.write < Store.first < @writer:3"), visits=False)
    assert record.fired is not None
    assert (record.fired.fault.occurrence, record.fired.nth, record.visits) == (5, 1, ())
    assert run("contexts", SiteFault(PUT, 2, FULL, "Store.put < Store.write < Store.first < @writer:3")).fired is None


def test_a_throw_happens_where_its_condition_is_asked(run: Run):
    assert said(run("closed"))[0] == 'Exception in thread "main" java.io.IOException: closed, as asked'
    record = run("open", SiteFault(CLOSED, 1, 'java.io.IOException("closed, as asked")'))
    assert said(record)[0] == 'Exception in thread "main" java.io.IOException: closed, as asked'


def test_calls_give_back_what_they_are_told_to(run: Run):
    ground = (SiteFault(EXISTS, 1, "return(true)"), SiteFault(NAME, 1, "return(null)"))
    record = run("open", SiteFault(LENGTH, 1, "return(-1)"), ground=ground)
    assert record.fired is not None
    assert len(record.fired_ground) == 2
    assert said(record)[0] == "size -1, open true, of null"
    assert record.problems == ()


def test_what_cannot_be_made_is_a_problem_and_does_not_fire(run: Run):
    ground = (SiteFault(EXISTS, 1, 'no.such.Error("x")'), SiteFault(NAME, 1, "java.io.InputStream()"))
    ground = (*ground, SiteFault(LENGTH, 1, "return(nothing)"), SiteFault(CLOSED, 1, "nonsense"))
    record = run("open", SiteFault(LENGTH, 1, "return(null)"), ground=ground)
    assert (record.fired, record.fired_ground) == (None, ())
    assert said(record)[0] == "size 0, open false, of no such file"
    assert [problem.split(" could")[0] for problem in record.problems] == [
        "the effect nonsense",
        "the effect return(nothing)",
        "the effect return(null)",
        'the effect no.such.Error("x")',
        "the effect java.io.InputStream()",
    ]


def test_a_hang_ends_as_the_call_would_when_it_is_interrupted(run: Run):
    assert said(run("wait", SiteFault(ACQUIRE, 1, "hang()"))) == ["interrupted", "done"]


def test_a_call_is_delayed(run: Run):
    record = run("write", SiteFault(PUT, 1, "delay(0.01)"))
    assert record.fired is not None
    assert said(record)[-1] == "done"


def test_a_crash_loses_no_visits(run: Run):
    record = run("write", SiteFault(PUT, 3, "crash()"))
    assert not record.succeeded
    assert record.fired is not None
    assert [visit.occurrence for visit in record.visits] == [1, 2, 3]


def test_of_several_jvms_one_fires(run: Run):
    record = run("twice", SiteFault(PUT, 2, "java.net.SocketException()"))
    assert record.fired is not None
    assert (record.fired.process, record.fired.fault.occurrence) == (1, 2)
    assert [line for line in said(record) if "cannot" in line] == ["cannot put 1: java.net.SocketException"]
    assert {visit.process for visit in record.visits} == {1, 2}


def test_what_runs_in_another_jvm_is_told_apart_by_its_context(run: Run):
    first = "Store.put < Store.write < Store.main < @main in JVM 2"
    second = "Store.put < Store.write < Store.main < @main in JVM 3"
    record = run("twice", SiteFault(PUT, 2, "java.net.SocketException()", second))
    assert record.fired is not None
    assert (record.fired.process, record.fired.nth, record.fired.within) == (2, 2, second)
    assert [(visit.within, visit.nth) for visit in record.visits] == [
        (context, nth) for context in (first, second) for nth in range(1, 6)
    ]


def test_a_fault_fires_once_it_is_written_down_and_leaves_no_part(run: Run):
    record = run("twice", SiteFault(PUT, 2, "java.net.SocketException()"), ground=(SiteFault(PUT, 1, "delay(0.01)"),))
    assert record.fired is not None
    assert len(record.fired_ground) == 1
    left = {path.name for path in (record.folder / "out").glob("*.json*")}
    assert left == {"fired.json", "ground.0.json"}


def test_of_a_jvm_that_was_killed_while_it_wrote_nothing_has_fired(
    jar: Path, compiled: Callable[..., Path], tmp_path: Path
):
    """What it leaves is there when the JVM of this round starts, which does not fire in its place."""
    java = f"java -Xmx64m -cp {compiled('store')} store.Store write"
    folder = tmp_path / "round"
    workload = Workload(("sh", "-c", f"printf '{{\"si' >{folder}/out/fired.json.part; exec {java}"), 20)
    plan = ArmedRound(tuple(enumerate(STORE)), (SiteFault(PUT, 2, FULL), SiteFault(PUT, 3, FULL)))
    record = asyncio.run(run_round(workload, plan, folder, HARNESS))
    assert (record.fired, record.problems) == (None, ())
    assert not [line for line in said(record) if "cannot" in line]


def test_a_busy_site_is_counted_though_not_all_of_it_is_recorded(run: Run):
    record = run("busy", SiteFault(PUT, 20_000, FULL, IN_MAIN))
    assert record.fired is not None
    assert record.fired.nth == 20_000
    assert len(record.visits) == 1000
    assert HARNESS.visit_counts(record.folder) == {PUT: 30_000}


def test_records_that_loggers_handled_are_counted(run: Run):
    record = run("log")
    assert struct.unpack("<I", (record.folder / "out/logged").read_bytes()) == (3,)
    assert [row.logged for row in read_visits(record.folder / "out")] == [3]


def test_a_later_round_finds_the_classes_that_an_earlier_one_has_woven(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(globals(), "STORE", [*STORE, java_site("store.Store::put::OutputStream.flush")])
    cache = tmp_path / "cache"
    cache.mkdir()
    first = run("contexts", cache=cache)
    kept = {path: path.stat().st_mtime_ns for path in cache.glob("*/*")}
    assert kept
    second = run("contexts", cache=cache)
    assert {path: path.stat().st_mtime_ns for path in cache.glob("*/*")} == kept
    assert second.visits == first.visits
    assert (
        second.problems
        == first.problems
        == ("store.Store::put::OutputStream.flush is not in the class that was loaded",)
    )
    assert HARNESS.executed(second.folder) == HARNESS.executed(first.folder) != {}
    assert run("contexts", SiteFault(PUT, 1, FULL), cache=cache).fired is not None


def test_a_site_that_is_not_in_the_class_is_a_problem(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "STORE", [*STORE, java_site("store.Store::put::OutputStream.write#1")])
    assert run("write").problems == ("store.Store::put::OutputStream.write#1 is not in the class that was loaded",)


def test_a_workload_without_java_is_a_problem(jar: Path, tmp_path: Path):
    plan = ArmedRound(tuple(enumerate(STORE)))
    record = asyncio.run(run_round(Workload(("true",), 20), plan, tmp_path / "round", HARNESS))
    assert record.problems == (
        "no JVM of the workload loaded the agent: does a script of it set JAVA_TOOL_OPTIONS, or is it no Java?",
    )


def extracted(jar: Path, classes: Path, folder: Path) -> list[Site]:
    request = {"sources": [str(classes)], "drivers": [], "class_path": [str(classes)]}
    (folder / "request.json").write_text(json.dumps(request))
    command = ["java", "-Xmx128m", "-jar", str(jar), "extract", str(folder / "request.json"), str(folder / "tables")]
    subprocess.run(command, check=True, capture_output=True)
    head, *methods = map(json.loads, (folder / "tables").read_text().splitlines())
    strings = head["strings"]
    sites = []
    for method, function, expression, ordinal, line, raised, *_ in head["sites"]:
        of_class = head["classes"][methods[method]["c"]]
        name = f"{strings[of_class[0]]}::{strings[function]}::{strings[expression]}#{ordinal}"
        sites.append(java_site(name, line=line, path=strings[of_class[3]], raised=bool(raised)))
    return sites


@pytest.mark.parametrize("release", ["8", "17"])
def test_whatever_shape_code_has_it_runs_as_without_the_agent(
    jar: Path, compiled: Callable[..., Path], tmp_path: Path, release: str
):
    classes = compiled("odd_code", "--release", release, "-Xlint:-options")
    sites = tuple(enumerate(extracted(jar, classes, tmp_path)))
    command = ("java", "-Xverify:all", "-XX:-PrintWarnings", "-Xmx64m", "-cp", str(classes), "odd.OddCode")
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    every_value = ("null", "0", "true", "0.5", '""')
    never = tuple(SiteFault(number, 1000, f"return({value})") for number, _ in sites for value in every_value)
    for number, window in enumerate([(), never]):
        record = asyncio.run(
            run_round(Workload(command, 20), ArmedRound(sites, window), tmp_path / f"round-{number}", HARNESS)
        )
        assert said(record) == alone
        assert record.problems == ()
        assert len({visit.site for visit in record.visits}) > 40


def test_another_java_takes_the_place_of_the_command_s(tmp_path: Path):
    java = shutil.which("java") or pytest.skip("there is no java")
    assert HARNESS.with_runtime(Workload(("java", "-cp", "x", "Main"), 5), java).command == (java, "-cp", "x", "Main")
    with pytest.raises(UsageError, match="no-such-java"):
        HARNESS.with_runtime(Workload(("java",), 5), "no-such-java")


def test_a_script_is_told_of_another_java_by_its_environment():
    java = shutil.which("java") or pytest.skip("there is no java")
    env = HARNESS.with_runtime(Workload(("./start.sh",), 5, env={"PATH": "/own"}), java).env
    assert env["JAVA_HOME"] == str(Path(java).parent.parent)
    assert env["PATH"] == os.pathsep.join([str(Path(java).parent), "/own"])

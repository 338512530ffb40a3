import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cutset.errors import UsageError
from cutset.model.reproduction.site import Site, SiteFault, SiteKind
from cutset.process.keeper import Ending
from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.rounds.harness import ArmedRound, Workload
from cutset.reproduce.rounds.runner import RoundRecord, last_words, run_round

NO_FAULT = ArmedRound(records_visits=False)
HARNESS = PythonHarness()


def a_workload(script: str, *arguments: str, **settings: object) -> Workload:
    return Workload(command=(sys.executable, "-c", script, *arguments), timeout_s=20, **settings)


def run(workload: Workload, folder: Path, plan: ArmedRound = NO_FAULT) -> RoundRecord:
    return asyncio.run(run_round(workload, plan, folder, HARNESS))


PROGRAM = """
import logging, os, sys, threading
logging.basicConfig(format="%(levelname)s %(message)s", level="INFO")
def visit(times):
    for _ in range(times):
        os.getpgid(0)
logging.info("begin")
visit(2)
logging.info("between")
thread = threading.Thread(target=visit, args=[1], name="other")
thread.start()
thread.join()
"""
CALL = "os.getpgid(0)"


def a_program(folder: Path) -> tuple[Path, Site]:
    """And its only site."""
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(PROGRAM)
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if CALL in text)
    return path, site_at(path, line, 8, 8 + len(CALL))


def site_at(path: Path, line: int, column: int, end_column: int) -> Site:
    return Site("program", "visit", "os.getpgid", 0, SiteKind.CALL, str(path), line, column, line, end_column)


def plan_of(site: Site, *window: SiteFault) -> ArmedRound:
    return ArmedRound([(0, site)], window)


def test_visits_are_read_back(tmp_path):
    path, site = a_program(tmp_path)
    record = run(Workload((sys.executable, str(path)), 20), tmp_path / "round", plan_of(site))
    assert record.problems == ()
    assert [(visit.site, visit.occurrence, visit.log_lines, visit.process) for visit in record.visits] == [
        (0, 1, 1, 0),
        (0, 2, 1, 0),
        (0, 3, 2, 0),
    ]
    assert [visit.thread for visit in record.visits] == ["MainThread", "MainThread", "other"]
    assert record.fired is None
    assert record.logs[0].read_text() == "INFO begin\nINFO between\n"


def test_what_fired_is_read_back(tmp_path):
    path, site = a_program(tmp_path)
    effect = "ConnectionResetError(104, 'reset')"
    record = run(Workload((sys.executable, str(path)), 20), tmp_path / "round", plan_of(site, SiteFault(0, 2, effect)))
    assert record.exit_code == 1
    assert record.fired is not None
    assert record.fired.fault == SiteFault(0, 2, effect)
    assert (record.fired.log_lines, record.fired.thread) == (1, "MainThread")
    assert any("visit" in entry for entry in record.fired.stack)
    assert "ConnectionResetError: [Errno 104] reset" in record.logs[0].read_text()
    assert json.loads((tmp_path / "round" / "meta.json").read_text())["fired"]["choice"]["occurrence"] == 2


def test_a_hook_that_did_not_run_is_a_problem(tmp_path):
    path, site = a_program(tmp_path)
    isolated = Workload((sys.executable, "-I", str(path)), 20)
    record = run(isolated, tmp_path / "round", plan_of(site))
    assert record.visits == ()
    assert any("no interpreter of the workload loaded the hook" in problem for problem in record.problems)


def test_problems_of_the_hook_are_read_back(tmp_path):
    path, _ = a_program(tmp_path)
    nowhere = site_at(path, 2, 0, 1)
    record = run(Workload((sys.executable, str(path)), 20), tmp_path / "round", plan_of(nowhere))
    assert record.exit_code == 0
    assert len(record.problems) == 1


SHOW = """
import json, os, sys, tempfile
print(json.dumps([os.getcwd(), tempfile.gettempdir(), os.listdir(), os.listdir(tempfile.gettempdir()), sys.path]))
open('left.txt', 'w').close()
tempfile.mkstemp()
print(os.environ.get('CUTSET_KEY'), os.environ['PYTHONHASHSEED'], os.environ['MINE'], sys.stdin.read(), sep='|')
"""


def test_a_round_has_folders_and_an_environment_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CUTSET_KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/of/the/user")
    for name in ("first", "second"):
        record = run(a_workload(SHOW, env={"MINE": "given"}), tmp_path / name)
        shown, told = record.outputs[0].read_text().splitlines()
        cwd, temporary, *contents, search_path = json.loads(shown)
        assert cwd == str(tmp_path / name / "work") == str(record.work)
        assert contents == [[], []]
        assert len(temporary) < 50
        assert not Path(temporary).exists()
        assert len(list((tmp_path / name / "tmp").iterdir())) == 1
        assert "/of/the/user" in search_path
        assert told == "None|0|given|"


def test_a_workload_may_have_a_folder_of_its_own(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "mine.py").write_text("print('found')")
    record = run(Workload((sys.executable, "mine.py"), 20, cwd=tmp_path / "project"), tmp_path / "round")
    assert record.outputs[0].read_text() == "found\n"
    assert record.work == tmp_path / "project"


@pytest.mark.parametrize(
    ("log", "texts"),
    [("output", ["out\nerr\n"]), ("stdout", ["out\n"]), ("stderr", ["err\n"]), ("**/*.log", ["a", "b"])],
)
def test_the_log_is_what_was_printed_or_files(tmp_path, log, texts):
    script = """
import os, sys
print('out', flush=True); print('err', file=sys.stderr)
os.mkdir('logs'); open('a.log', 'w').write('a'); open('logs/b.log', 'w').write('b')
"""
    record = run(a_workload(script, log=log), tmp_path / "round")
    assert [path.read_text() for path in record.logs] == texts
    assert sorted("".join(path.read_text() for path in record.outputs).split()) == ["err", "out"]


@pytest.mark.parametrize("pattern", ["logs/*.log", "{}/logs/*.log"])
def test_log_files_in_a_folder_of_the_user_are_kept_apart(tmp_path, pattern):
    (tmp_path / "logs").mkdir()
    workload = a_workload("open('logs/app.log', 'a').write('once')", cwd=tmp_path, log=pattern.format(tmp_path))
    records = [run(workload, tmp_path / name) for name in ("first", "second")]
    assert [[path.read_text() for path in record.logs] for record in records] == [["once"], ["once"]]
    (tmp_path / "logs" / "old.log").write_text("of the user")
    with pytest.raises(UsageError, match=r"old\.log` is there before the round"):
        run(workload, tmp_path / "third")


def test_a_round_without_log_has_a_problem_and_a_good_run_without_one_is_refused(tmp_path):
    path, site = a_program(tmp_path)
    workload = Workload((sys.executable, str(path)), 20, log="nothere*.log")

    record = run(workload, tmp_path / "faulty", plan_of(site, SiteFault(0, 9, "OSError()")))
    assert record.logs == ()
    assert record.problems == ("the round has no log: no file where it ran matches `nothere*.log`",)

    with pytest.raises(UsageError, match=r"leaves no log, even without faults: no file in .* matches `nothere\*\.log`"):
        run(workload, tmp_path / "good", plan_of(site))

    fails = run(a_workload("raise SystemExit(1)", log="nothere*.log"), tmp_path / "fails")
    assert fails.exit_code == 1


def test_how_it_ended_is_recorded(tmp_path):
    record = run(a_workload("import os; os.kill(os.getpid(), 9)"), tmp_path / "killed")
    assert (record.ended, record.exit_code, record.signal) == (Ending.EXITED, None, 9)
    record = run(a_workload("import sys; sys.exit(3)"), tmp_path / "exited")
    assert (record.ended, record.exit_code, record.signal) == (Ending.EXITED, 3, None)
    meta = json.loads((tmp_path / "exited" / "meta.json").read_text())
    assert (meta["exit"], meta["timed_out"], meta["fired"]) == (3, False, None)


def test_the_last_words_of_a_run_are_no_part_of_a_stack(tmp_path):
    traced = "print('before'); print('no such order: 7'); print('\\tat shop.Shop.main(Shop.java:3)\\n')"
    assert last_words(run(a_workload(traced), tmp_path / "traced")) == "no such order: 7"
    assert last_words(run(a_workload(""), tmp_path / "silent")) == ""
    assert last_words(run(a_workload("print('x' * 300)"), tmp_path / "long")) == "x" * 200 + "…"


def test_a_command_that_does_not_exist_is_a_mistake_of_the_user(tmp_path):
    with pytest.raises(UsageError, match=r"the workload `no-such-program x` does not start: .*no-such-program"):
        run(Workload(("no-such-program", "x"), 20), tmp_path / "round")


def test_a_folder_is_used_once(tmp_path):
    run(a_workload(""), tmp_path / "round")
    with pytest.raises(FileExistsError):
        run(a_workload(""), tmp_path / "round")


def test_rounds_do_not_disturb_each_other(tmp_path):
    script = "import os, sys; open('state', 'x').write(sys.argv[1]); print(sys.argv[1]); sys.exit(int(sys.argv[1]))"

    async def run_all() -> list[RoundRecord]:
        rounds = (run_round(a_workload(script, str(n)), NO_FAULT, tmp_path / f"round-{n}", HARNESS) for n in range(6))
        return await asyncio.gather(*rounds)

    records = asyncio.run(run_all())
    assert [record.exit_code for record in records] == list(range(6))
    assert [(record.work / "state").read_text() for record in records] == list("012345")
    assert [record.outputs[0].read_text() for record in records] == [f"{n}\n" for n in range(6)]


def links_to(folder: Path) -> list[Path]:
    return [path for path in Path(tempfile.gettempdir()).glob("cutset-*") if path.resolve() == folder]


def wait_for_output(log: Path) -> None:
    deadline = time.monotonic() + 20
    while not log.exists() or not log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_cancelled_round_leaves_nothing_outside_its_folder(tmp_path):
    folder = tmp_path / "round"

    async def cancel() -> None:
        async with asyncio.TaskGroup() as group:
            workload = a_workload("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
            task = group.create_task(run_round(workload, NO_FAULT, folder, HARNESS))
            await asyncio.to_thread(wait_for_output, folder / "run.log")
            assert links_to(folder / "tmp")
            task.cancel()

    asyncio.run(cancel())
    assert not Path("/proc", (folder / "run.log").read_text().strip()).exists()
    assert not links_to(folder / "tmp")


def test_a_round_whose_keeper_was_killed_is_recorded_as_lost(tmp_path):
    record = run(a_workload("import os, time; os.kill(os.getppid(), 9); time.sleep(60)"), tmp_path / "round")
    assert (record.ended, record.exit_code, record.signal) == (Ending.LOST, None, None)
    assert "its keeper ended with -9" in record.problems[0]
    assert not links_to(tmp_path / "round" / "tmp")


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.12", "3.13"])
def test_the_hook_works_in_other_interpreters(tmp_path, version):
    candidates = [*(Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"), shutil.which(f"python{version}")]
    python = str(candidates[0])
    if candidates == [None] or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no Python {version}")
    path, site = a_program(tmp_path)
    record = run(Workload((python, str(path)), 20), tmp_path / "round", plan_of(site))
    assert (record.problems, [visit.occurrence for visit in record.visits]) == ((), [1, 2, 3])


def test_processes_of_a_workload_are_numbered_in_order_of_their_start(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import os\nif os.fork():\n    os.wait()\nos.getpgid(0)\n")
    record = run(
        Workload((sys.executable, str(path)), 20),
        tmp_path / "round",
        ArmedRound([(5, site_at(path, 4, 0, 13))]),
    )
    assert sorted((visit.process, visit.site) for visit in record.visits) == [(0, 5), (1, 5)]

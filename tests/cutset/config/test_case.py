import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from tests.samples.jars import class_folder, jar

from cutset.config.case import (
    CaseFile,
    anchored,
    build_case,
    case_text,
    kept_case,
    language_of,
    read_case,
    search_settings,
)
from cutset.errors import CutsetError, UsageError
from cutset.model.reproduction.result import Language
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName

ROOT = Path(__file__).parents[3]
EVERYTHING = f"""
run: {sys.executable} work.py --config=a.ini
source: [shop, ./lib, tool.py]
log: failure.log
oracle: log:lost and not (python:checks.py::is_fine or exit:0)
timeout: 2m
env: {{PYTHONPATH: "lib:/opt", MODE: "1"}}
driver: [helper.py]
python: venv/bin/python
log_from: "*.log"
log_pattern: (?P<message>.*)
rounds: 40
jobs: 2
strategy: full
faults: [exception, hang]
second_fault: false
minimise: true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("work.py", "a.ini", "checks.py", "tool.py", "helper.py", "shop.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "failure.log").write_text("order lost\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/thing.py").write_text("")
    return tmp_path


def case_file(folder: Path, text: str) -> CaseFile:
    (folder / "case.yaml").write_text(text)
    return read_case(CaseFile(), folder / "case.yaml")


def minimal(folder: Path, **changes: object) -> CaseFile:
    case = CaseFile(run=f"{sys.executable} work.py", source=("shop",), log="failure.log", oracle="log:lost")
    return anchored(replace(case, **changes), folder)  # type: ignore[arg-type]


def test_names_are_as_seen_from_the_folder_of_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")

    case = case_file(folder, EVERYTHING)

    assert case.run == f"{sys.executable} {folder}/work.py --config={folder}/a.ini"
    assert case.source == ("shop", f"{folder}/lib", f"{folder}/tool.py")
    assert case.log == f"{folder}/failure.log"
    assert case.oracle == f"log:lost and not (python:{folder}/checks.py::is_fine or exit:0)"
    assert case.env == {"PYTHONPATH": f"{folder}/lib:/opt", "MODE": "1"}
    assert case.driver == (f"{folder}/helper.py",)
    assert case.python == f"{folder}/venv/bin/python"


def test_a_case_that_was_written_down_is_the_same_again(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    case = case_file(folder, EVERYTHING)
    copy = tmp_path_factory.mktemp("elsewhere") / "copy.yaml"

    copy.write_text(case_text(case))

    assert read_case(CaseFile(), copy) == case


def test_in_a_folder_of_its_own_the_command_is_left_alone(folder: Path) -> None:
    case = minimal(folder, cwd=".", env={"PYTHONPATH": "lib"})

    assert (case.run, case.cwd, case.env) == (f"{sys.executable} work.py", str(folder), {"PYTHONPATH": "lib"})
    built = build_case(case)
    assert built.workload.cwd == folder
    assert built.drivers == (f"{folder}/work.py",)
    assert built.search_path[:2] == (str(folder), f"{folder}/lib")


def test_a_module_is_looked_for_where_the_command_was_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "lib")

    case = minimal(folder, run=f"{sys.executable} -m shop")

    assert case.env == {"PYTHONPATH": f"{folder}:{folder}/lib"}
    assert build_case(case).search_path[0] == str(folder)


def test_options_win_over_the_file_and_single_variables_over_single_ones(folder: Path) -> None:
    case_file(folder, EVERYTHING)
    options = CaseFile(jobs=8, oracle="exit:1", env={"MODE": "2"}, minimise=False)
    case = read_case(options, folder / "case.yaml")

    assert (case.jobs, case.oracle, case.minimise, case.rounds) == (8, "exit:1", False, 40)
    assert case.env == {"PYTHONPATH": f"{folder}/lib:/opt", "MODE": "2"}


def test_settings_not_given_are_the_defaults(folder: Path) -> None:
    given = search_settings(case_file(folder, EVERYTHING))

    assert search_settings(CaseFile()) == ReproductionSettings()
    assert (given.rounds, given.jobs, given.second_fault, given.minimise) == (40, 2, False, True)
    assert given.strategy is SiteStrategyName.FULL
    assert given.faults == (FaultKind.EXCEPTION, FaultKind.HANG)


def test_a_case_has_what_the_search_needs(folder: Path) -> None:
    case = build_case(minimal(folder, oracle="hang:10s", timeout="90s", driver=("helper.py",), log_from="stderr"))

    assert case.sources == ("shop",)
    assert case.search_path[0] == str(folder)
    assert case.drivers == (f"{folder}/helper.py", f"{folder}/work.py")
    assert case.failure_log == "order lost\n"
    assert case.workload.command == (sys.executable, f"{folder}/work.py")
    assert (case.workload.timeout_s, case.workload.quiet_s, case.workload.log) == (90, 10, "stderr")


def test_the_current_folder_is_a_source(folder: Path) -> None:
    assert build_case(minimal(folder, source=(".",))).sources == (str(folder),)


def test_a_folder_of_packages_stands_for_them(folder: Path) -> None:
    for name in ("src/one", "src/two", "src/data"):
        (folder / name).mkdir(parents=True)
    (folder / "src/one/__init__.py").touch()
    (folder / "src/two/__init__.py").touch()

    assert build_case(minimal(folder, source=("./src",))).sources == (f"{folder}/src/one", f"{folder}/src/two")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "runs: python x.py",
            "`runs`: unknown key. Did you mean `run`? Valid keys: `class_path`, `closer`, `cwd`, `driver`, ",
        ),
        ("source: shop", '`source`: expected a list, found "shop"'),
        ("rounds: many", '`rounds`: expected a whole number, found "many"'),
        ("timeout: soon", '`timeout`: expected a time such as `60s` or `2m`, found "soon"'),
        ("faults: [explosion]", "`faults[0]`: expected `exception`, `hang`"),
        ("strategy: fast", "`strategy`: expected `best-first`, `full`"),
        ("env: {MODE: 1}", "`env.MODE`: expected text, found 1 (put it in quotes)"),
        ("run: [python, x.py", "line 2, column 1: while parsing a flow sequence"),
        ("oracle: lg:x", "oracle `lg:x`, at character 1: expected a check"),
        ("oracle: python:absent.py::f", "absent.py`"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CutsetError) as error:
        case_file(tmp_path, text + "\n")

    assert message in error.value.message
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run": None, "log": None}, "To reproduce a failure, `--run`, `--log` must be given"),
        ({"log": "absent.log"}, "absent.log`: No such file or directory"),
        ({"log": "empty.log"}, "empty.log` is empty"),
        ({"log": "packed.log"}, "packed.log` is no text: the byte at offset 3 is 0"),
        ({"source": ("shopp",)}, "No Python source of 'shopp'"),
        ({"source": ("./absent",)}, "There is no source at"),
        ({"cwd": "absent"}, "There is no folder"),
        ({"driver": ("absent.py",)}, "There is no driver"),
        ({"run": "no-such-program x"}, "`no-such-program` is on no folder of PATH"),
        ({"run": "python absent.py"}, "The workload does not start: the script `absent.py` does not exist"),
        ({"run": "sh -c true"}, "It cannot be told which Python runs the workload"),
        ({"python": "/bin/false"}, "`/bin/false` does not tell where it looks for modules"),
    ],
)
def test_a_case_that_cannot_be_is_explained(folder: Path, changes: dict[str, object], message: str) -> None:
    (folder / "empty.log").write_text(" \n")
    (folder / "packed.log").write_bytes(b"\x1f\x8b\x08\0\0")

    with pytest.raises(CutsetError) as error:
        build_case(minimal(folder, **changes))

    assert message in error.value.message
    assert error.value.exit_code == 2


def test_a_source_with_a_typing_mistake_has_near_matches(folder: Path) -> None:
    with pytest.raises(UsageError) as error:
        build_case(minimal(folder, source=("shopp",)))

    assert error.value.hint.startswith("Did you mean `shop`")


@pytest.mark.parametrize(
    ("case", "language"),
    [
        (CaseFile(run="python x.py", source=("shop",)), Language.PYTHON),
        (CaseFile(run="./run.sh", source=("shop",)), Language.PYTHON),
        (CaseFile(run="python x.py", source=("helper.jar",)), Language.PYTHON),
        (CaseFile(run="/opt/jdk/bin/java -jar shop.jar", source=("org.shop",)), Language.JVM),
        (CaseFile(run="./run.sh", source=("lib/shop.jar",)), Language.JVM),
        (CaseFile(run="./run.sh", source=("org.shop",), class_path=("lib/*",)), Language.JVM),
        (CaseFile(run="./run.sh", source=("org.shop",), java="/opt/jdk/bin/java"), Language.JVM),
        (CaseFile(run="mvn test", source=("org.shop",)), Language.JVM),
        (CaseFile(run="java x", language=Language.PYTHON), Language.PYTHON),
        (CaseFile(), Language.PYTHON),
    ],
)
def test_the_language_is_told_by_the_command_or_by_what_only_one_has(case: CaseFile, language: Language) -> None:
    assert language_of(case) is language


def test_a_case_of_the_jvm_has_what_the_search_needs(folder: Path) -> None:
    java = folder / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"17\"' >&2\n")
    java.chmod(0o755)
    class_folder(folder / "work", "Workload")
    shop = jar(folder / "lib/shop.jar", "org.shop.Queue")

    case = build_case(minimal(folder, run=f"{java} -cp 'work:lib/*' Workload", source=("org.shop", "lib/shop.jar")))

    assert case.language is Language.JVM
    assert (case.sources, case.drivers) == (("org.shop", shop), (f"{folder}/work",))
    assert case.search_path == (f"{folder}/work", shop)
    assert case.workload.command == (str(java), "-cp", f"{folder}/work:{folder}/lib/*", "Workload")
    assert (case.workload.timeout_s, case.runtime) == (180, str(java))


def test_a_class_path_and_a_java_are_as_seen_from_the_folder_of_the_file(folder: Path) -> None:
    case = case_file(folder, "run: run.sh\nclass_path: ['a.jar:lib/*', /opt/x]\njava: jdk/bin/java\ndriver: [org.Main]")

    assert case.class_path == (f"{folder}/a.jar", f"{folder}/lib/*", "/opt/x")
    assert (case.java, case.driver) == (f"{folder}/jdk/bin/java", ("org.Main",))
    assert case.language is Language.JVM


def test_the_variable_that_names_classes_is_as_seen_from_the_folder_of_the_file(folder: Path) -> None:
    assert minimal(folder, run="java Workload").env == {"CLASSPATH": str(folder)}
    assert minimal(folder, run="java Workload", env={"CLASSPATH": "lib:/x"}).env == {"CLASSPATH": f"{folder}/lib:/x"}
    assert minimal(folder, run="java -cp lib Workload").env is None


def test_options_and_file_together_tell_the_language(folder: Path) -> None:
    (folder / "case.yaml").write_text("class_path: [lib/*]\nrun: ./run.sh\n")

    assert read_case(CaseFile(source=("org.shop",)), folder / "case.yaml").language is Language.JVM
    assert read_case(CaseFile(run="java -cp x Main"), None).language is Language.JVM


def test_the_example_is_valid() -> None:
    case = read_case(CaseFile(), ROOT / "examples/reproduce/case.yaml")

    assert case.run is not None
    command = case.run.replace("python", sys.executable, 1)  # not every machine calls it `python`
    assert build_case(replace(case, run=command)).sources == ("outbox",)


def test_every_key_is_in_the_reference() -> None:
    reference = (ROOT / "docs/how-to/reproduce.md").read_text()

    assert [field.name for field in fields(CaseFile) if f"`{field.name}`" not in reference] == []


def test_a_case_that_was_kept_is_read_as_it_was_written(tmp_path: Path) -> None:
    case = CaseFile(run="python x.py", log_pattern="(?P<message>.*)", env={"A": "1"})
    (tmp_path / "case.yaml").write_text(case_text(case))

    assert kept_case(tmp_path / "case.yaml") == case

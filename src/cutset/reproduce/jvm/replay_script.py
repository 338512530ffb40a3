"""Writes the folder that replays a reproduced failure of a JVM program, with neither the search nor Cutset.

replay.sh               replays it: by replay.py, or, where there is no Python, once, without judging
replay.py               the case as plain data, and a call of `replay.main`
ReproductionTest.java   a JUnit 5 test that fails until the bug is fixed
plan.json               what the agent is told where there is no Python
vendor/                 the modules that the replay needs, and the agent
"""

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.jvm.class_path import classes_of, has_package, is_path
from cutset.reproduce.jvm.harness import JvmHarness, agent_plan
from cutset.reproduce.jvm.jar import find_java, jvm_jar
from cutset.reproduce.jvm.java_command import is_java, parse_java
from cutset.reproduce.jvm.locate import code_around
from cutset.reproduce.replay.script import fault_row, script_text
from cutset.reproduce.replay.vendor import copy_file, copy_needed
from cutset.reproduce.rounds.harness import ArmedRound, Workload
from cutset.reproduce.settings import FailureCase

ENTRY = "cutset.reproduce.jvm.replay"
_TEMPLATES = Path(__file__).parent / "replay_folder"
_OUT = "/@OUT@"  # in plan.json: the folder of what the agent reports, which is another one in every replay
_NO_CLASS_PATH = "[ -z \"$class_path\" ] || { echo 'replay.sh: here, --class-path takes a Python' >&2; exit 3; }"
_MARK = "CLASS-PATH-OF-THE-REPLAY"  # for a moment, in its place: a word that a shell takes as it is


def write_replay(folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
    """Returns the script. What an earlier replay left in the folder is overwritten."""
    vendor = folder / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    copy_needed(ENTRY, vendor)
    copy_file(jvm_jar(), vendor / "cutset/reproduce/jvm" / jvm_jar().name)
    sources = [place for name in (*case.sources, *case.drivers) for place in _sources(name, case)]
    sites = [fault.site for fault in faults]
    around = code_around(sites, sources, case.search_path, find_java(case.runtime or None))
    (folder / "replay.py").write_text(
        script_text(
            faults=[fault_row(fault, around[fault.site]) for fault in faults],
            workload=case.workload,
            oracle=case.oracle,
            sources=sources,
            entry=ENTRY,
            options="[--java PATH] [--class-path PATH]",
            workload_needs="the workload needs a `java`",
        ),
        encoding="utf-8",
    )
    analysed = JvmHarness().locate(around, sources, case.workload, None).analysed
    (folder / "plan.json").write_text(json.dumps(agent_plan(_plan(faults, analysed), Path(_OUT)), indent=1))
    _fill(folder / "ReproductionTest.java", {"FOLDER": json.dumps(str(folder.absolute()))[1:-1]})
    script = folder / "replay.sh"
    _fill(script, _shell(case, faults))
    script.chmod(0o755)
    return script


def _sources(name: str, case: FailureCase) -> list[str]:
    """As a replay finds it: the class path of a start script is not known then, so that jars stand for packages."""
    if is_path(name):
        return [str(Path(name).absolute())]
    if is_java(case.workload.command[0]):
        return [name]
    return [entry for entry in case.search_path if has_package(entry, name) or name in classes_of(entry)]


def _fill(path: Path, values: Mapping[str, str]) -> None:
    """A file from its template."""
    text = (_TEMPLATES / path.name).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    path.write_text(text, encoding="utf-8")


def _plan(faults: Sequence[FiredFault], analysed: Sequence[str]) -> ArmedRound:
    """The last fault is the one of the round, those before it are its ground."""
    numbers = {site: number for number, site in enumerate(dict.fromkeys(fault.site for fault in faults))}
    *ground, last = [replace(fault.at_site, site=numbers[fault.site]) for fault in faults]
    return ArmedRound(
        sites=[(number, site) for site, number in numbers.items()],
        window=(last,),
        ground=tuple(ground),
        records_visits=False,
        records_functions=False,
        analysed=analysed,
    )


def _shell(case: FailureCase, faults: Sequence[FiredFault]) -> dict[str, str]:
    workload, reports = case.workload, [*(f"ground.{number}.json" for number in range(len(faults) - 1)), "fired.json"]
    java, class_path, command = _command(workload)
    told = [
        f"printf '  fault    %s\\n' {shlex.quote(str(fault))}\nfired {report}"
        for fault, report in zip(faults, reports, strict=True)
    ]
    return {
        "JAVA": java,
        "CLASS_PATH": class_path,
        "COMMAND": command,
        "CWD": '"$folder/work"' if workload.cwd is None else shlex.quote(str(workload.cwd.absolute())),
        "ENVIRONMENT": "\n".join(f"export {name}={shlex.quote(value)}" for name, value in workload.env.items()),
        "FIXED": "" if '"$class_path"' in command else _NO_CLASS_PATH,
        "TIMEOUT": f"{workload.timeout_s:.0f}",
        "ORACLE": shlex.quote(str(case.oracle)),
        "FAULTS": "\n".join(told),
    }


def _command(workload: Workload) -> tuple[str, str, str]:
    """In a shell: the `java`, the class path, and the command that has both as variables."""
    if not is_java(workload.command[0]):
        return "", "", shlex.join(workload.command)
    command = parse_java(workload.command, workload.cwd or Path("/"))
    java = shlex.quote(command.program)
    if command.jar:
        return java, "", f'"$java" {shlex.join(command.words[1:])}'
    class_path = command.class_path if command.class_path is not None else workload.env.get("CLASSPATH", "")
    words = replace(command, class_path=_MARK).words[1:]
    return java, shlex.quote(class_path), f'"$java" {shlex.join(words)}'.replace(_MARK, '"$class_path"')

"""`make dist`: builds both distributions into `dist/` and proves each in empty environments outside of this folder.

It is a check and no benchmark, as it fails where a promise is broken: a file of the source that a wheel lacks, a
dependency of the agent, a Python in which the agent does not act. What cannot be had here (a Python, a package index)
is said in one line and does not fail. Ends with one JSON line.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checks.pythons import find_python, full_version

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
PROOF = Path(__file__).parent / "dist_proof.py"
AGENT_PYTHONS = tuple(f"3.{minor}" for minor in range(9, 15))
HOOKED_LIBRARY = "urllib3"  # has wheels without code of its own for every Python
IMPORTS = 11  # of which the median counts
MB = 1_000_000


class DistError(Exception):
    """A promise about the distributions is broken; the text says which."""


@dataclass(frozen=True, slots=True)
class Distribution:
    project: Path  # where its pyproject.toml is
    source: Path
    wheel_name: str


CUTSET = Distribution(ROOT, ROOT / "src", "cutset")
AGENT = Distribution(ROOT / "agent", ROOT / "agent/src", "cutset_agent")


def main() -> int:
    try:
        wheels = {each: build(each) for each in (AGENT, CUTSET)}
        with tempfile.TemporaryDirectory(prefix="cutset-dist-") as folder:
            dependencies, pythons = prove_agent(wheels[AGENT], Path(folder))
            import_ms, installed_mb = prove_cutset(list(wheels.values()), Path(folder) / "cutset")
    except DistError as error:
        _say(f"error: {error}")
        return 1
    result = {
        "wheels": [wheel.name for wheel in wheels.values()],
        "agent_dependencies": dependencies,
        "agent_pythons": pythons,
        "cutset_import_ms": import_ms,
        "installed_mb": installed_mb,
        "jvm_programs": has_jar(wheels[CUTSET]),
    }
    print(json.dumps(result))
    return 0


def build(distribution: Distribution) -> Path:
    """The wheel, made of the source distribution, so that both are whole."""
    for old in DIST.glob(f"{distribution.wheel_name}-*"):
        old.unlink()
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(distribution.project))
    (wheel,) = DIST.glob(f"{distribution.wheel_name}-*.whl")
    if missing := sorted(source_files(distribution.source) - wheel_files(wheel)):
        raise DistError(f"{wheel.name} lacks {', '.join(missing)}")
    _say(f"{wheel.name}: {wheel.stat().st_size / MB:.2f} MB, {len(wheel_files(wheel))} files")
    return wheel


def source_files(folder: Path) -> set[str]:
    """All that is part of the product, whatever its kind: templates, catalogues and filters as well as code."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in files if "__pycache__" not in path.parts and not path.name.startswith(".")}


def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def has_jar(wheel: Path) -> bool:
    """Whether failures of JVM programs can be reproduced with it: without a JDK, the jar for them is not built."""
    there = "cutset/reproduce/jvm/cutset-jvm.jar" in wheel_files(wheel)
    if not there:
        _say(f"{wheel.name} does Python programs only: there was no JDK to build cutset-jvm.jar")
    return there


def prove_agent(wheel: Path, folder: Path) -> tuple[int, list[str]]:
    """How many dependencies it has, and the Pythons in which it was found to act."""
    pythons = {version: python for version in AGENT_PYTHONS if (python := find_python(version))}
    if missing := [version for version in AGENT_PYTHONS if version not in pythons]:
        _say(f"not installed here, so not tried: Python {', '.join(missing)}")
    found = [_prove_agent_in(version, python, wheel, folder / version) for version, python in pythons.items()]
    if not found or any(found):
        raise DistError(f"the agent must have no dependency and act somewhere; dependencies: {found}")
    return sum(found), list(pythons)


def _prove_agent_in(version: str, python: str, wheel: Path, folder: Path) -> int:
    interpreter = _environment(python, folder)
    _run(interpreter, *_PIP_INSTALL, "--no-index", str(wheel))
    alone = [name for name in _installed(interpreter) if name not in {"pip", "setuptools", "wheel"}]
    if alone != ["cutset-agent"]:
        raise DistError(f"Python {version}: installing {wheel.name} brought {alone}")
    proof = json.loads(_run(interpreter, str(PROOF), "urllib", cwd=folder))
    acted = ["a service of the standard library"]
    if _can_install(interpreter, HOOKED_LIBRARY):
        _run(interpreter, str(PROOF), HOOKED_LIBRARY, cwd=folder)
        acted.append(f"one that uses {HOOKED_LIBRARY}")
    else:
        _say(f"Python {version}: {HOOKED_LIBRARY} cannot be had, so the agent is not tried with it")
    _say(f"Python {full_version(interpreter)}: the agent acts in {' and in '.join(acted)}")
    return int(proof["dependencies"])


def prove_cutset(wheels: Iterable[Path], folder: Path) -> tuple[float, float]:
    """Milliseconds to import it, and megabytes that it takes with all that it depends on."""
    interpreter = _environment(sys.executable, folder)
    before = _size(folder)
    _run(interpreter, *_PIP_INSTALL, "-c", str(ROOT / "constraints.txt"), *map(str, wheels))
    said = _run(str(Path(interpreter).with_name("cutset")), "--version", cwd=folder)
    version = next(iter(wheels)).name.split("-")[1]
    if version not in said:
        raise DistError(f"`cutset --version` says `{said.strip()}`, the wheels say {version}")
    import_ms = statistics.median(_import_ms(interpreter, folder) for _ in range(IMPORTS))
    installed_mb = (_size(folder) - before) / MB
    _say(f"{said.strip()}: imported in {import_ms:.1f} ms, {installed_mb:.0f} MB with all that it depends on")
    return round(import_ms, 1), round(installed_mb, 1)


def _import_ms(interpreter: str, folder: Path) -> float:
    """Of a process of its own; what the interpreter imports for itself does not count."""
    command = (interpreter, "-X", "importtime", "-c", "import cutset")
    times = subprocess.run(command, cwd=folder, env=_bare_environment(), capture_output=True, text=True, check=True)
    return int(times.stderr.splitlines()[-1].split("|")[1]) / 1000


# -- environments ------------------------------------------------------------------------------------------------------

_PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def _environment(python: str, folder: Path) -> str:
    """The interpreter of a new one."""
    _run(python, "-m", "venv", str(folder))
    return str(folder / "bin/python")


def _installed(interpreter: str) -> list[str]:
    program = "from importlib import metadata; print(*sorted(d.metadata['Name'] for d in metadata.distributions()))"
    return _run(interpreter, "-c", program, cwd=Path(interpreter).parent).split()


def _can_install(interpreter: str, requirement: str) -> bool:
    command = [interpreter, *_PIP_INSTALL, "--retries", "1", requirement]
    return subprocess.run(command, env=_bare_environment(), capture_output=True, check=False).returncode == 0


def _size(folder: Path) -> int:
    """Without compiled files: whether there are any depends on pip."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc")


def _bare_environment() -> dict[str, str]:
    """Nothing of ours: an environment that finds this folder proves nothing."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUTSET_", "VIRTUAL_"))}


def _run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, env=_bare_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise DistError(f"`{' '.join(command)}` ended with {done.returncode}: {said[-1] if said else 'no message'}")
    return done.stdout


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

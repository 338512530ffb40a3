"""The Python that runs a workload: which programs are one, and where it looks for modules."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cutset.errors import UsageError

ASK_SECONDS = 60
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?(?:\.exe)?")
_ASK = "import json, sys; print(); print(json.dumps(sys.path))"


def is_python(program: str) -> bool:
    return _PYTHON.fullmatch(Path(program).name) is not None


def modules_path(interpreter: str, env: Mapping[str, str], cwd: Path) -> list[str]:
    """`sys.path`, as a program that is started in this folder has it, but for what the program itself adds."""
    try:
        said = subprocess.run(
            [interpreter, "-c", _ASK],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=True,
        )
        return [str(cwd / entry) for entry in json.loads(said.stdout.splitlines()[-1]) if entry]
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        output = (getattr(error, "stderr", "") or "").strip().rpartition("\n")[2]
        raise UsageError(
            f"`{interpreter}` does not tell where it looks for modules: {output or error}",
            hint="Is it a Python? Name the one that runs the workload with `--python PATH`",
        ) from error

"""Makes exceptions in the workload's interpreter, before any round: which expressions can be made, and what `str` says.

What a constructor really takes, only it knows. All expressions are tried in one process that ends with the last; what
makes it hang or die costs the answers that it has not given yet, and nothing else.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

TRIAL_SECONDS = 30  # libraries have to be imported for it
_LONGEST = 1000  # characters of a text

_TRY = f"""
import importlib.util, json, sys
told = importlib.util.spec_from_file_location("faults_of_cutset", sys.argv[1])
faults = importlib.util.module_from_spec(told)
told.loader.exec_module(faults)
out, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    try:
        said = str(faults._parse_effect(json.loads(line))[1])[:{_LONGEST}]
    except BaseException:
        said = None
    out.write(json.dumps(said) + "\\n")
    out.flush()
"""


def texts_of(expressions: Iterable[str], interpreter: str, env: Mapping[str, str]) -> dict[str, str] | None:
    """By expression: the text of the exception, of those that can be made. None if the interpreter does not say."""
    asked = list(dict.fromkeys(expressions))
    hook = str(files("cutset_agent").joinpath("sites", "faults.py"))
    with tempfile.TemporaryDirectory(prefix="cutset-trial-") as folder, (Path(folder) / "said").open("w+") as said:
        with suppress(OSError, subprocess.SubprocessError):  # what was said before counts
            subprocess.run(
                [interpreter, "-c", _TRY, hook],
                cwd=folder,
                env=env,
                input="".join(json.dumps(one) + "\n" for one in asked),
                stdout=said,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=TRIAL_SECONDS,
                check=False,
            )
        said.seek(0)
        answers = [json.loads(line) for line in said if line.endswith("\n")]
    if not answers:
        return None
    unanswered = dict.fromkeys(asked[len(answers) :], "")  # nothing speaks against them
    return {one: text for one, text in zip(asked, answers, strict=False) if text is not None} | unanswered

"""The agent is started in every interpreter, and nothing else changes there."""

import os
import subprocess
import sys

from tests.cutset_agent.conftest import KEY

from cutset_agent.launch import agent_environment

BARE = {"PATH": os.environ["PATH"], "CUTSET_KEY": KEY}


def test_the_agent_leaves_the_search_path_and_the_other_sitecustomize_as_they_are(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.customised = True\n")
    program = "import sys; print(sys.customised, [p for p in sys.path if 'hook' in p], 'cutset' in sys.modules)"
    environment = agent_environment({**BARE, "PYTHONPATH": str(tmp_path)})
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True [] False\n"


def test_processes_that_the_command_starts_have_the_agent_too():
    inner = "import sys; print('cutset_agent.hooks' in sys.modules)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=agent_environment(BARE), capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"

"""The proof that `make dist` runs in empty environments, run in this one."""

import json
import subprocess
import sys

import pytest

from checks import dist_proof


@pytest.mark.parametrize("library", ["urllib", "urllib3"])
def test_a_planned_call_fails_and_no_other(library, tmp_path):
    command = [sys.executable, dist_proof.__file__, library]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(done.stdout) == {
        "dependencies": 0,
        "statuses": {"planned": 503, "forged": 200, "plain": 200},
        "fired": ["connection-refused"],
    }

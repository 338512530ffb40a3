"""The list of hooks, and what all of them have in common."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import cutset_agent
from cutset_agent import hooks, reports
from cutset_agent.catalogue import catalogue


def test_every_hook_file_is_in_the_list():
    root = Path(cutset_agent.__file__).parent.parent
    files = [path for path in Path(hooks.__file__).parent.glob("*/*.py") if "\ndef install(" in path.read_text()]
    found = [".".join(path.relative_to(root).with_suffix("").parts) for path in files]
    assert sorted(found) == sorted(hooks.HOOKS.values())


@pytest.mark.parametrize("name", hooks.HOOKS)
def test_a_hook_says_what_it_hooks_and_every_fault_is_in_the_catalogue(name):
    hook = import_module(hooks.HOOKS[name])
    assert hook.MODULE
    assert hook.TESTED
    assert callable(hook.install)
    assert set(hook.FAULTS) <= set(catalogue())


def test_installing_is_free_of_errors(installed):
    hooks.install()
    assert not reports.errors


def test_the_agent_is_off_by_default():
    program = (
        "import cutset_agent, aiohttp, grpc, httpx, sys, urllib3\n"
        "assert not cutset_agent.install()\n"
        "assert 'cutset_agent.hooking' not in sys.modules\n"
        "assert not hasattr(httpx.HTTPTransport.handle_request, '_cutset_hook')\n"
        "assert not hasattr(urllib3.HTTPConnectionPool._make_request, '_cutset_hook')\n"
        "assert not hasattr(aiohttp.ClientSession._request, '_cutset_hook')\n"
    )
    environment = {**os.environ, "CUTSET_AGENT": "", "CUTSET_KEY": "a key"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=60)

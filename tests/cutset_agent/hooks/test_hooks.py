"""What all hook files have in common."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import cutset_agent
from cutset_agent import hooking, hooks

LIBRARIES = {"aiohttp", "aiokafka", "asyncpg", "grpc", "httpx", "nats", "pika", "psycopg", "pymongo", "redis"} | {
    "sqlalchemy",
    "starlette",
    "urllib3",
    "uvicorn",
}


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
    assert set(hook.FAULTS) <= set(hooking.catalogue())


def test_hooks_load_without_any_library():
    program = (
        (
            "import sys; from cutset_agent.hooks import fault_library; assert fault_library();"
            f"print(sorted({sorted(LIBRARIES)!r} & sys.modules.keys()))"
        )
        .replace("sorted([", "sorted(set([")
        .replace("] & sys", "]) & sys")
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_fault_of_the_library_is_explained_and_can_happen_somewhere():
    for fault in hooks.fault_library().values():
        assert fault.what, fault
        assert fault.incident, fault
        assert fault.resilient, fault
        assert fault.frameworks, fault


def test_installing_is_free_of_errors(installed):
    hooks.install()
    assert not hooking.errors

"""The library of faults can be read anywhere."""

import subprocess
import sys

from cutset_agent.hooks.library import fault_library

LIBRARIES = {"aiohttp", "aiokafka", "asyncpg", "grpc", "httpx", "nats", "pika", "psycopg", "pymongo", "redis"} | {
    "sqlalchemy",
    "starlette",
    "urllib3",
    "uvicorn",
}


def test_it_is_read_without_any_library():
    program = (
        "import sys; from cutset_agent.hooks.library import fault_library; assert fault_library();"
        f"print(sorted({LIBRARIES!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_fault_of_the_library_is_explained_and_can_happen_somewhere():
    for fault in fault_library().values():
        assert fault.what, fault
        assert fault.incident, fault
        assert fault.resilient, fault
        assert fault.frameworks, fault

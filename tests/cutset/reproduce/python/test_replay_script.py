import ast
import sys
from pathlib import Path

from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

EFFECT = "ValueError('a {brace}, a \\'quote\\', an ü')"
ENV = {"SHOP_MODE": "test\n{x}"}


def written(folder: Path, oracle: str = "hang:30s") -> Path:
    site = Site("shop.bank", "Bank.pay", "self.socket.send", 1, SiteKind.CALL, "/src/shop/bank.py", 7, 4, 7, 30)
    fault = FiredFault(site, 0, 5, EFFECT, "its handler catches it", 3, 0, "MainThread", (), None, "bank.py:pay", 2)
    workload = Workload(("python3", "/src/workload.py"), timeout_s=60, env=ENV, log="logs/*.log", quiet_s=30.0)
    return write_replay(folder, FailureCase(("shop",), (), ("drive.py",), "", workload, parse_oracle(oracle)), [fault])


def data_in(script: Path) -> dict[str, object]:
    found = {}
    for node in ast.parse(script.read_text()).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = ast.literal_eval(value)
    return found


def test_the_case_is_plain_data_in_the_script(tmp_path: Path) -> None:
    assert data_in(written(tmp_path)) == {
        "FAULTS": [
            {
                "effect": EFFECT,
                "within": "bank.py:pay",
                "nth": 2,
                "occurrence": 5,
                "site": {
                    "module": "shop.bank",
                    "function": "Bank.pay",
                    "expression": "self.socket.send",
                    "ordinal": 1,
                    "kind": "call",
                    "path": "/src/shop/bank.py",
                    "line": 7,
                },
                "around": [],
            }
        ],
        "SOURCES": ["shop", str(Path("drive.py").absolute())],
        "WORKLOAD": {
            "command": ["python3", "/src/workload.py"],
            "cwd": None,
            "env": ENV,
            "timeout_s": 60,
            "quiet_s": 30.0,
            "log": "logs/*.log",
        },
        "ORACLE": "hang:30s",
    }


def test_files_of_the_oracle_are_named_absolutely(tmp_path: Path) -> None:
    script = written(tmp_path, "log:lost and not (hang or python:checks.py::lost)")

    assert data_in(script)["ORACLE"] == f"log:lost and not (hang or python:{Path.cwd() / 'checks.py'}::lost)"


def test_what_is_copied_imports_nothing_but_itself_and_the_standard_library(tmp_path: Path) -> None:
    vendor = written(tmp_path).parent / "vendor"
    known = sys.stdlib_module_names | {"cutset", "cutset_agent"}

    for path in vendor.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= known, path


def test_writing_again_leaves_nothing_of_the_earlier_replay(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "vendor/cutset/old.py").write_text("")

    written(tmp_path)

    assert not (tmp_path / "vendor/cutset/old.py").exists()

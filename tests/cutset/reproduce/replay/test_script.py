import ast

from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.replay.script import fault_row, script_text
from cutset.reproduce.rounds.harness import Workload

SITE = Site("shop.Bank", "pay", "Socket.send", 1, SiteKind.CALL, "shop/Bank.java", 7, 0, 7, 0)


def test_a_script_says_how_it_is_used_and_calls_the_entry_of_its_language() -> None:
    fault = FiredFault(
        SITE, 0, 5, 'java.io.IOException("a {brace}")', "", 3, 0, "main", (), None, "Bank.pay < @main", 2
    )
    text = script_text(
        faults=[fault_row(fault, ["before();", "after();"])],
        workload=Workload(("java", "Main"), timeout_s=60),
        oracle=parse_oracle("exit:1"),
        sources=["org.shop"],
        entry="cutset.reproduce.jvm.replay",
        options="[--java PATH]",
        workload_needs="the workload needs a `java`",
    )
    tree = ast.parse(text)

    assert "python replay.py [--java PATH] [--keep] [--json]" in (ast.get_docstring(tree) or "")
    assert "from cutset.reproduce.jvm.replay import main" in text
    values = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    assert values[1:] == [
        ["org.shop"],
        {"command": ["java", "Main"], "cwd": None, "env": {}, "timeout_s": 60, "quiet_s": 0.0, "log": "output"},
        "exit:1",
    ]
    (row,) = values[0]
    assert (row["within"], row["nth"], row["occurrence"]) == ("Bank.pay < @main", 2, 5)
    assert (row["site"]["expression"], row["around"]) == ("Socket.send", ["before();", "after();"])

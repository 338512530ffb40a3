"""What is read back of a run's visits."""

import pytest
from tests.samples.hooked_program import Program

from cutset_agent.sites.record import VISITS, VISITS_OF_SITE
from cutset_agent.sites.visits import read_counts


def test_beyond_limits_visits_are_only_counted(tmp_path):
    sites = VISITS // VISITS_OF_SITE + 1
    calls = "".join(f"        g{n}()\n" for n in range(sites))
    source = f"def f(n):\n    for _ in range(n):\n{calls}    len('')\n\n"
    names = " = ".join(f"g{n}" for n in range(sites))
    program = Program(tmp_path, main=f"{source}{names} = lambda: None\nf({VISITS_OF_SITE + 500})\n")
    program.run_hooked("main.py")
    assert len(program.visits()) == VISITS
    counts = read_counts(str(program.out))
    assert {counts[0, program.site(f"g{n}")] for n in range(sites)} == {VISITS_OF_SITE + 500}
    assert counts[0, program.site("len")] == 1


def test_a_busy_site_leaves_room_for_others(tmp_path):
    program = Program(
        tmp_path, main=f"def f():\n    for _ in range({VISITS + 5}):\n        abs(0)\n    len('')\n\nf()\n"
    )
    program.run_hooked("main.py")
    assert [text for text, *_ in program.visits()] == ["range"] + ["abs"] * VISITS_OF_SITE + ["len"]


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_no_visit_is_lost_however_the_process_ends(end, tmp_path):
    program = Program(tmp_path, main=f"import os\ndef f():\n    for _ in range(5000):\n        abs(0)\n\nf()\n{end}\n")
    program.run_hooked("main.py")
    assert program.visits()[-1] == ("abs", 5000, 0, 0, "MainThread")

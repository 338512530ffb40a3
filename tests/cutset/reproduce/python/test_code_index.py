from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.code_index import Code, index_code, scope_of

SOURCE = """
import threading

ready = False

class Shop:
    def open(self, future, queue):
        global ready
        ready = True
        self.state = "open"
        self.items.clear()
        queue.drain()
        future.set_exception(OSError())
        threading.Thread(target=self.sell).start()
        return self.state

    def sell(self):
        def inner():
            return ready
        return inner()
"""


@pytest.fixture(name="code")
def fixture_code(tmp_path: Path) -> Code:
    return index_code(read_app(tmp_path, SOURCE, driver="import app\napp.Shop().open(1, 2)\n"))


def function(code: Code, name: str) -> int:
    return next(number for number, one in enumerate(code.program.functions) if one.name == name)


def test_callers_are_those_that_call_or_start_a_function(code: Code):
    callers = {code.program.events[event].expression for event in code.callers[function(code, "Shop.sell")]}
    assert any("Thread" in caller for caller in callers)
    inner = code.callers[function(code, "Shop.sell.inner")]
    assert [code.program.events[event].expression for event in inner] == ["inner"]


def test_writes_are_found_by_scope_and_name_or_by_attribute(code: Code):
    top = next(number for number, one in enumerate(code.program.functions) if one.imported and one.module == "app")
    assert len(code.local_writes[top, "ready"]) == 2
    assert len(code.attribute_writes["state"]) == 1
    assert len(code.returns[function(code, "Shop.open")]) == 1


def test_calls_for_their_effect_alone_are_changes_of_what_they_are_called_on(code: Code):
    assert "items" in code.attribute_changes
    assert (function(code, "Shop.open"), "queue") in code.local_changes or (-1, "queue") in code.local_changes
    assert [code.program.events[event].expression for event in code.failed_futures["future"]] == [
        "future.set_exception"
    ]


def test_a_name_belongs_to_the_function_around_that_writes_it(code: Code):
    top = next(number for number, one in enumerate(code.program.functions) if one.imported and one.module == "app")
    assert scope_of(code.program, code.local_writes, function(code, "Shop.sell.inner"), "ready") == top
    assert scope_of(code.program, code.local_writes, function(code, "Shop.sell"), "nobody") == -1


def test_drivers_are_known_and_have_no_sites(code: Code):
    driving = [number for number in range(len(code.program.events)) if code.drives(number)]
    assert driving
    assert not set(driving) & set(code.sites)
    assert sorted(code.sites.values()) == list(range(len(code.program.sites)))

from pathlib import Path

from tests.samples.small_programs import read_app

from cutset.reproduce.python.syntax import self_class

SOURCE = """
class Shop:
    def sell(self, item):
        def later():
            return self.stock
        def other(self):
            return self
        return later

    @staticmethod
    def free(item):
        return item

def outside(self):
    return self
"""


def test_self_is_the_class_also_in_functions_inside_a_method(tmp_path: Path):
    program = read_app(tmp_path, SOURCE)
    numbers = {function.name: number for number, function in enumerate(program.functions)}

    def class_of(function: str, name: str) -> str:
        owner = self_class(program.functions, numbers[function], name)
        return program.classes[owner].name if owner >= 0 else ""

    assert class_of("Shop.sell", "self") == "Shop"
    assert class_of("Shop.sell.later", "self") == "Shop"
    assert class_of("Shop.sell.other", "self") == ""  # a parameter of its own
    assert class_of("Shop.sell", "item") == ""
    assert class_of("Shop.free", "item") == ""
    assert class_of("outside", "self") == ""


def test_lines_are_counted_over_all_modules(tmp_path: Path):
    program = read_app(tmp_path, SOURCE, driver="import app\n")
    assert program.lines == sum(module.lines for module in program.modules.values()) > 16

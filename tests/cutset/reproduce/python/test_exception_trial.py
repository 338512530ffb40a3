import sys

from cutset.process.supervise import inherited_environment
from cutset.reproduce.python.exception_trial import texts_of


def test_what_can_be_made_says_its_text_and_what_cannot_is_left_out():
    asked = [
        "OSError(28, 'No space')",
        "UnicodeDecodeError('x')",
        "nowhere.Error('x')",
        "sqlite3.OperationalError('l')",
    ]
    assert texts_of(asked, sys.executable, inherited_environment()) == {
        "OSError(28, 'No space')": "[Errno 28] No space",
        "sqlite3.OperationalError('l')": "l",
    }


def test_a_library_that_ends_the_interpreter_costs_the_answers_after_it_alone(tmp_path):
    (tmp_path / "rude.py").write_text("import os\nprint('hello')\nos._exit(3)\n")
    (tmp_path / "loud.py").write_text("print('hello')\nclass Error(Exception): ...\n")
    env = inherited_environment() | {"PYTHONPATH": str(tmp_path)}
    asked = ["KeyError()", "OSError(1)", "loud.Error('x')", "rude.Error()", "ValueError('y')"]
    assert texts_of(asked, sys.executable, env) == {
        "KeyError()": "",
        "OSError(1)": "1",
        "loud.Error('x')": "x",
        "rude.Error()": "",  # nothing speaks against these two
        "ValueError('y')": "",
    }


def test_without_an_interpreter_nothing_is_known(tmp_path):
    assert texts_of(["KeyError()"], str(tmp_path / "python"), {}) is None
    assert texts_of(["KeyError()"], "/bin/false", {}) is None

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.traceback import Traceback

from cutset.reproduce.python.log_dialect import PythonLogs
from cutset.reproduce.python.rich_tracebacks import without_boxes

HERE = Path(__file__)


def fail(width: int) -> None:
    raise OSError(28, "No space left on device")


def drawn(width: int) -> list[str]:
    file = io.StringIO()
    try:
        fail(width)
    except OSError:
        Console(file=file, width=width).print(Traceback(show_locals=True, width=width))
    return file.getvalue().rstrip("\n").split("\n")


@pytest.mark.parametrize("width", [60, 200])
def test_a_box_is_a_traceback_as_python_prints_it(width: int):
    lines = [line for _, line in without_boxes(enumerate(drawn(width), start=1))]
    assert PythonLogs().raised(lines)[0] == "OSError raised in fail"
    assert f'  File "{HERE}", line {fail.__code__.co_firstlineno + 1}, in fail' in lines
    assert '    raise OSError(28, "No space left on device")' in lines


def test_what_is_no_box_is_left_alone_and_lines_keep_their_numbers():
    box = drawn(200)
    numbered = list(without_boxes(enumerate(["up", *box, "│ a table │"], start=1)))
    assert numbered[0] == (1, "up")
    assert numbered[-2:] == [
        (len(box) + 1, "OSError: [Errno 28] No space left on device"),
        (len(box) + 2, "│ a table │"),
    ]

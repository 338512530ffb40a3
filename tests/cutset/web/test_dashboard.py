import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cutset.model.run import Loop, RunStarted
from cutset.web.dashboard import Dashboard
from cutset.web.reading import Reading

CONFIG = Path("cutset.yaml")


@pytest.mark.parametrize(
    ("config_file", "key", "read_only", "can_act"),
    [(CONFIG, b"k", False, True), (CONFIG, b"k", True, False), (None, b"k", False, False), (CONFIG, b"", False, False)],
)
def test_experiments_need_a_configuration_and_a_key_and_leave_to_act(
    tmp_path: Path, config_file: Path | None, key: bytes, *, read_only: bool, can_act: bool
) -> None:
    with ExitStack() as stack:
        dashboard = Dashboard(Reading(tmp_path, stack), config_file, key, read_only=read_only)
        assert dashboard.can_act is can_act


def test_the_frame_says_what_is_under_way_and_where(tmp_path: Path) -> None:
    begun, released = threading.Event(), threading.Event()

    async def run() -> AsyncGenerator[RunStarted, None]:
        yield RunStarted(loop=Loop.CAMPAIGN, run="one")
        begun.set()
        released.wait(20)

    with ExitStack() as stack:
        dashboard = Dashboard(Reading(tmp_path, stack))
        assert dashboard.frame().running == ""
        dashboard.runs.start("A campaign", run)
        assert begun.wait(20)
        assert (dashboard.frame().running, dashboard.frame().running_at) == ("A campaign", "/campaigns/one")
        released.set()
        dashboard.runs.close()
        assert dashboard.frame().running == ""

"""The names of runs: they sort by when they began, and two that begin in one second still differ."""

from datetime import datetime


def new_run_id() -> str:
    return datetime.now().astimezone().strftime("%Y%m%d-%H%M%S-%f")

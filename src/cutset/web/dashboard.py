"""What all pages of the dashboard are given: what is recorded, what it runs with, and what it runs now."""

from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from cutset.web.aside import Aside
from cutset.web.frame import Frame
from cutset.web.live import LivePace
from cutset.web.reading import Reading
from cutset.web.runs import StartedRuns


@dataclass(slots=True)
class Dashboard:
    reading: Reading
    config_file: Path | None = None  # none: nothing can be started here
    key: bytes = b""  # signs plans; none: likewise
    not_yet: str = ""  # why nothing can be started yet, if that is to change
    baseline_file: Path = Path("baseline.yaml")
    read_only: bool = False
    runs: StartedRuns = field(default_factory=StartedRuns)
    pace: LivePace = field(default_factory=LivePace)
    aside: Aside = field(default_factory=Aside)

    @property
    def store(self) -> Path:
        return self.reading.store

    @property
    def can_act(self) -> bool:
        """Whether experiments can be started here."""
        return not self.read_only and self.config_file is not None and bool(self.key)

    def frame(self) -> Frame:
        current = self.runs.current
        return Frame(
            str(self.store), self.read_only, current.what if current else "", current.address if current else ""
        )


def dashboard_of(request: Request) -> Dashboard:
    found: Dashboard = request.app.state.dashboard
    return found
